//! What a table is: a row type with documented columns, and how rows become columns of a Parquet file and back.
//!
//! Takes the declarations of `schema.rs` through [`table!`]; gives [`Table`]. Knows Parquet, but no folder and no manifest.

use super::value::{Cell, Scalar, Value};
use parquet::basic::{Compression, Encoding, Repetition, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

/// Rows of a row group: readers skip whole groups by their smallest and largest values.
const GROUP_ROWS: usize = 1 << 18;

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name; times end in `_ns`, sizes in `_bytes`.
    pub name: &'static str,
    /// `uint16`, `uint32`, `uint64`, `int32`, `int64`, `double`, `bool` or `text`.
    pub kind: &'static str,
    /// Whether a cell may be empty.
    pub nullable: bool,
    /// What it says.
    pub about: &'static str,
    /// The words that can stand in it, each with what it means; none where they are not from a list.
    pub words: &'static [(&'static str, &'static str)],
    field: fn(&str) -> Type,
}

impl Column {
    pub(crate) const fn of<V: Value>(name: &'static str, about: &'static str) -> Self {
        Column {
            name,
            kind: V::Scalar::TYPE,
            nullable: V::NULLABLE,
            about,
            words: V::Scalar::WORDS,
            field: field::<V>,
        }
    }
}

fn field<V: Value>(name: &str) -> Type {
    let physical = <V::Scalar as Scalar>::Data::get_physical_type();
    let repetition = match V::NULLABLE {
        true => Repetition::OPTIONAL,
        false => Repetition::REQUIRED,
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(<V::Scalar as Scalar>::logical())
        .build()
        .expect("the physical type carries the logical one")
}

/// A row type.
#[expect(private_bounds, reason = "only this crate declares tables")]
pub trait Table: Stored + Clone + Send + 'static {
    /// Its name, and its file's without the ending.
    const NAME: &'static str;
    /// What a row is.
    const ABOUT: &'static str;
    /// Its columns, in their order.
    const COLUMNS: &'static [Column];

    /// The cells of this row, in the order of the columns.
    fn cells(&self) -> Vec<Cell>;
}

/// How rows are stored.
pub(crate) trait Stored: Sized {
    fn put<W: Write + Send>(rows: &[Self], group: &mut GroupWriter<'_, W>) -> Result<()>;
    fn take(group: &GroupReader<'_>, rows: usize) -> Result<Vec<Self>>;
}

/// Declares a table: `Row in "file" { column: type, ... }`, with the documentation as its text. Where a column's name is
/// no name in Rust: `column = "Its.Name": type`.
macro_rules! table {
    ($(#[doc = $about:literal])+ $row:ident in $name:literal {
        $($(#[doc = $doc:literal])+ $column:ident $(= $named:literal)?: $type:ty,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $row { $($(#[doc = $doc])+ pub $column: $type,)+ }

        impl Table for $row {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!($($about),+);
            const COLUMNS: &'static [Column] =
                &[$(Column::of::<$type>(
                    $crate::trace::table::column_name!($column $($named)?),
                    concat!($($doc),+),
                ),)+];

            fn cells(&self) -> Vec<Cell> {
                vec![$(value::cell(&self.$column),)+]
            }
        }

        impl Stored for $row {
            fn put<W: std::io::Write + Send>(
                rows: &[Self],
                group: &mut GroupWriter<'_, W>,
            ) -> parquet::errors::Result<()> {
                $(group.column(rows.iter().map(|row| &row.$column))?;)+
                Ok(())
            }

            fn take(group: &GroupReader<'_>, rows: usize) -> parquet::errors::Result<Vec<Self>> {
                $(let name = $crate::trace::table::column_name!($column $($named)?);
                let mut $column = group.column::<$type>(name, rows)?.into_iter();)+
                let row = |_| $row { $($column: $column.next().expect("as many as rows"),)+ };
                Ok((0..rows).map(row).collect())
            }
        }
    };
}
pub(crate) use table;

/// What a column is called in the file.
macro_rules! column_name {
    ($column:ident) => {
        stringify!($column)
    };
    ($column:ident $named:literal) => {
        $named
    };
}
pub(crate) use column_name;

/// Writes rows as a Parquet file with zstd.
pub(crate) fn write<T: Table, W: Write + Send>(rows: &[T], file: W) -> Result<W> {
    let level = ZstdLevel::try_new(3).expect("a level of zstd");
    let mut writer = TableWriter::new(file, Compression::ZSTD(level))?;
    for rows in rows.chunks(GROUP_ROWS) {
        writer.group(rows)?;
    }
    writer.finish()
}

/// Writes a table group by group, so that its rows need not be in memory together.
pub(crate) struct TableWriter<T, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: PhantomData<fn(T)>,
}

impl<T: Table, W: Write + Send> TableWriter<T, W> {
    pub(crate) fn new(file: W, compression: Compression) -> Result<Self> {
        let writer = SerializedFileWriter::new(file, schema::<T>(), properties::<T>(compression))?;
        let rows = PhantomData;
        Ok(TableWriter { writer, rows })
    }

    /// Appends rows, as a row group of their own.
    pub(crate) fn group(&mut self, rows: &[T]) -> Result<()> {
        let mut group = GroupWriter(self.writer.next_row_group()?);
        T::put(rows, &mut group)?;
        group.0.close().map(drop)
    }

    /// Completes the file, and gives back what it was written to.
    pub(crate) fn finish(self) -> Result<W> {
        self.writer.into_inner()
    }
}

/// Reads rows from the bytes of a Parquet file that has at least the columns of the table.
pub(crate) fn read<T: Table>(file: Vec<u8>) -> Result<Vec<T>> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(file))?;
    let mut all = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        let rows = usize::try_from(group.metadata().num_rows());
        let rows = rows.map_err(|_| damaged("a negative number of rows"))?;
        let rows = T::take(&GroupReader(&*group), rows)?;
        all.extend(rows);
    }
    Ok(all)
}

fn schema<T: Table>() -> TypePtr {
    let fields = T::COLUMNS.iter().map(|column| (column.field)(column.name));
    let fields = fields.map(Arc::new).collect();
    let schema = Type::group_type_builder(T::NAME).with_fields(fields);
    Arc::new(schema.build().expect("columns of different names"))
}

/// Times and numbers of tasks grow from row to row: they are stored as differences. The rest repeats: dictionaries.
fn properties<T: Table>(compression: Compression) -> WriterPropertiesPtr {
    let mut properties = WriterProperties::builder()
        .set_compression(compression)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by(concat!("treeqr ", env!("CARGO_PKG_VERSION")).to_owned());
    for column in T::COLUMNS {
        let grows = column.name.ends_with("_ns")
            || column.name.ends_with("_bytes")
            || matches!(column.name, "task" | "predecessor" | "handle");
        if column.kind == "double" {
            // Hardly two are the same: looking for them takes longer than all the rest.
            properties = properties.set_column_dictionary_enabled(column.name.into(), false);
        }
        if grows && matches!(column.kind, "uint32" | "uint64" | "int64") {
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Arc::new(properties.build())
}

/// Where the columns of some rows go, one after the other.
pub(crate) struct GroupWriter<'w, W: Write>(SerializedRowGroupWriter<'w, W>);

impl<W: Write + Send> GroupWriter<'_, W> {
    pub(crate) fn column<'v, V: Value + 'v>(
        &mut self,
        values: impl Iterator<Item = &'v V>,
    ) -> Result<()> {
        let mut levels = Vec::new();
        let mut stored = Vec::new();
        for value in values {
            let value = value.get();
            if V::NULLABLE {
                levels.push(i16::from(value.is_some()));
            }
            stored.extend(value.map(Scalar::pack));
        }
        let mut column = self.0.next_column()?.expect("as many as the schema has");
        let levels = V::NULLABLE.then_some(&levels[..]);
        let typed = column.typed::<<V::Scalar as Scalar>::Data>();
        typed.write_batch(&stored, levels, None)?;
        column.close()
    }
}

/// Where the columns of some rows come from, by name.
pub(crate) struct GroupReader<'r>(&'r dyn RowGroupReader);

impl GroupReader<'_> {
    pub(crate) fn column<V: Value>(&self, name: &str, rows: usize) -> Result<Vec<V>> {
        let columns = self.0.metadata().schema_descr().columns();
        let index = columns.iter().position(|column| column.name() == name);
        let index = index.ok_or_else(|| damaged(format!("there is no column `{name}`")))?;
        let found = columns[index].self_type();
        if found != &field::<V>(name) {
            return Err(damaged(format!(
                "the column `{name}` is not of type {}",
                V::Scalar::TYPE
            )));
        }
        let reader = self.0.get_column_reader(index)?;
        let mut reader = get_typed_column_reader::<<V::Scalar as Scalar>::Data>(reader);
        let (mut levels, mut stored) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            let levels = V::NULLABLE.then_some(&mut levels);
            let (records, ..) = reader.read_records(rows - read, levels, None, &mut stored)?;
            if records == 0 {
                return Err(damaged(format!(
                    "the column `{name}` ends after {read} of {rows} rows"
                )));
            }
            read += records;
        }
        let mut stored = stored.iter();
        let mut next = |present: bool| -> Option<V> {
            match present {
                true => V::from_scalar(Some(V::Scalar::unpack(stored.next()?)?)),
                false => V::from_scalar(None),
            }
        };
        let present = |row: usize| !V::NULLABLE || levels.get(row) == Some(&1);
        (0..rows)
            .map(|row| {
                next(present(row)).ok_or_else(|| {
                    damaged(format!(
                        "row {} of column `{name}` holds what is no {}",
                        row + 1,
                        V::Scalar::TYPE
                    ))
                })
            })
            .collect()
    }
}

fn damaged(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}
