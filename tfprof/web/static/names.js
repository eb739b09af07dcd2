// Names shortened to what differs; the whole stands where one points.

// Names without the words that all of them begin with, and those words.
export function withoutCommon(names) {
  const texts = Array.from(names, String);
  if (texts.length < 2) return { common: "", names: texts };
  let length = texts[0].length;
  for (const text of texts) {
    while (!text.startsWith(texts[0].slice(0, length))) length -= 1;
  }
  const common = texts[0].slice(0, length).replace(/[^\s/_:.]*$/, "");
  return { common: common.replace(/[\s/_:.]+$/, ""), names: texts.map((text) => text.slice(common.length)) };
}

// A text of at most `most` letters, shortened in the middle: both ends of an op's name matter.
export function middleCut(text, most) {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - half)}…${text.slice(text.length - half)}`;
}
