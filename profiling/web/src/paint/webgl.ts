// The painter for dense panels: every shape is one instance of a quad, drawn in a few calls on one canvas that all panels share,
// and copied to the panel's own. What is smaller than a pixel counts by the part of the pixel that it covers.
//
// Takes shapes in CSS pixels; the mapping of time to pixels has been done in doubles by then.

import type { Colour } from "../colour";
import type { Box } from "../view";
import { drawTexts } from "./texts";
import type { Painter, QueuedText } from "./painter";

const VERTEX = `#version 300 es
uniform vec2 size;
layout(location = 0) in vec4 shape;
layout(location = 1) in float width;
layout(location = 2) in vec4 tint;
out vec2 at;
flat out vec4 form;
flat out float wide;
flat out vec4 colour;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  if (width == 0.0) {
    at = mix(floor(shape.xy), ceil(shape.zw), corner);
  } else if (width < 0.0) {
    at = shape.xy + (corner * 2.0 - 1.0) * (1.0 - width);
  } else {
    vec2 along = shape.zw - shape.xy;
    float far = length(along);
    along = far > 0.0 ? along / far : vec2(1.0, 0.0);
    vec2 side = vec2(-along.y, along.x) * (0.5 * width + 1.0);
    at = mix(shape.xy, shape.zw, corner.x) + side * (corner.y * 2.0 - 1.0);
  }
  form = shape;
  wide = width;
  // ABGR in memory: the bytes of 0xRRGGBBAA come last first.
  colour = tint.abgr;
  gl_Position = vec4(at.x / size.x * 2.0 - 1.0, 1.0 - at.y / size.y * 2.0, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
flat in vec4 form;
flat in float wide;
flat in vec4 colour;
out vec4 result;
void main() {
  float cover;
  if (wide == 0.0) {
    vec2 part = clamp(min(at + 0.5, form.zw) - max(at - 0.5, form.xy), 0.0, 1.0);
    cover = part.x * part.y;
  } else if (wide < 0.0) {
    cover = clamp(0.5 - wide - distance(at, form.xy), 0.0, 1.0);
  } else {
    vec2 along = form.zw - form.xy;
    vec2 off = at - form.xy;
    float away = abs(along.x * off.y - along.y * off.x) / max(length(along), 1e-6);
    cover = clamp(0.5 * wide + 0.5 - away, 0.0, min(wide, 1.0));
  }
  float alpha = colour.a * cover;
  result = vec4(colour.rgb * alpha, alpha);
}`;

// Four coordinates, a width and a colour.
const WORDS = 6;

interface Batch {
  first: number;
  end: number;
  clip: Box | null;
}

export interface Gl {
  painter(target: CanvasRenderingContext2D, width: number, height: number, ratio: number): Painter;
  // Whether no graphics card is behind it.
  software: boolean;
  lost(): boolean;
}

// None where the browser has no WebGL2.
export function glOf(): Gl | null {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { antialias: false, depth: false, premultipliedAlpha: true });
  if (gl === null) return null;
  const program = linked(gl);
  if (program === null) return null;
  const size = gl.getUniformLocation(program, "size");
  const buffer = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const location of [0, 1, 2]) {
    gl.enableVertexAttribArray(location);
    gl.vertexAttribDivisor(location, 1);
  }
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  let floats = new Float32Array(1 << 16);
  let words = new Uint32Array(floats.buffer);
  const grow = (): void => {
    const larger = new Float32Array(floats.length * 2);
    larger.set(floats);
    floats = larger;
    words = new Uint32Array(floats.buffer);
  };

  const painter: Gl["painter"] = (target, width, height, ratio) => {
    const texts: QueuedText[] = [];
    const batches: Batch[] = [];
    let count = 0;
    let clip: Box | null = null;
    let first = 0;
    const put = (a: number, b: number, c: number, d: number, thick: number, colour: Colour): void => {
      const at = count * WORDS;
      if (at + WORDS > floats.length) grow();
      floats[at] = a * ratio;
      floats[at + 1] = b * ratio;
      floats[at + 2] = c * ratio;
      floats[at + 3] = d * ratio;
      floats[at + 4] = thick * ratio;
      words[at + 5] = colour;
      count += 1;
    };
    const close = (): void => {
      if (count > first) batches.push({ first, end: count, clip });
      first = count;
    };
    return {
      rect(x, y, w, h, colour) {
        if (w > 0 && h > 0) put(x, y, x + w, y + h, 0, colour);
      },
      line: (x0, y0, x1, y1, w, colour) => put(x0, y0, x1, y1, w, colour),
      dot: (x, y, radius, colour) => put(x, y, x, y, -radius, colour),
      text: (x, y, text, style) => void texts.push({ x, y, text, style, clip }),
      clip(box) {
        close();
        clip = box;
      },
      flush() {
        close();
        const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
        // It only grows: a new size costs a new picture memory.
        if (canvas.width < w) canvas.width = w;
        if (canvas.height < h) canvas.height = h;
        const below = canvas.height - h;
        gl.viewport(0, below, w, h);
        gl.disable(gl.SCISSOR_TEST);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT);
        gl.uniform2f(size, w, h);
        gl.bufferData(gl.ARRAY_BUFFER, words.subarray(0, count * WORDS), gl.STREAM_DRAW);
        gl.enable(gl.SCISSOR_TEST);
        for (const batch of batches) draw(gl, batch, below, w, h, ratio);
        target.save();
        target.setTransform(1, 0, 0, 1, 0, 0);
        if (w > 0 && h > 0) target.drawImage(canvas, 0, 0, w, h, 0, 0, w, h);
        target.restore();
        drawTexts(target, texts);
        texts.length = batches.length = count = first = 0;
      },
    };
  };
  return { painter, software: bySoftware(gl), lost: () => gl.isContextLost() };
}

function bySoftware(gl: WebGL2RenderingContext): boolean {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(gl.getParameter(names === null ? gl.RENDERER : names.UNMASKED_RENDERER_WEBGL));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
}

function draw(gl: WebGL2RenderingContext, batch: Batch, below: number, w: number, h: number, ratio: number): void {
  const { x, y, width, height } = batch.clip ?? { x: 0, y: 0, width: w / ratio, height: h / ratio };
  const [left, top] = [Math.round(x * ratio), Math.round(y * ratio)];
  const [right, bottom] = [Math.round((x + width) * ratio), Math.round((y + height) * ratio)];
  gl.scissor(Math.max(left, 0), below + h - bottom, Math.max(right - left, 0), Math.max(bottom - top, 0));
  const bytes = WORDS * 4;
  const at = batch.first * bytes;
  gl.vertexAttribPointer(0, 4, gl.FLOAT, false, bytes, at);
  gl.vertexAttribPointer(1, 1, gl.FLOAT, false, bytes, at + 16);
  gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, bytes, at + 20);
  gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, batch.end - batch.first);
}

function linked(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(kind);
    if (shader === null || program === null) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) === true ? program : null;
}
