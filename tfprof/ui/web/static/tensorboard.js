// In TensorBoard: it loads this module into an empty page, and calls `render`.

export async function render() {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL("style.css", import.meta.url).href;
  document.head.append(style);
  // Made by servers of all modules.
  // @ts-expect-error
  await import("./tfprof.js");
}
