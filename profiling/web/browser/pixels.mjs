// Which part of a picture has a colour that is no grey, as data have and axes and texts have not; and its commonest colour. The browser
// decodes it: there is no other reader of PNG here.

let reader = null;

export async function colours(browser, png) {
  reader ??= await browser.newPage();
  return reader.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const counts = new Map();
    let coloured = 0;
    for (let k = 0; k < data.length; k += 4) {
      const [red, green, blue] = [data[k], data[k + 1], data[k + 2]];
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 50) coloured += 1;
      const word = (red << 16) | (green << 8) | blue;
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const [[common]] = [...counts].sort((a, b) => b[1] - a[1]);
    return { coloured: (4 * coloured) / data.length, common: [common >> 16, (common >> 8) & 255, common & 255] };
  }, png.toString("base64"));
}
