/**
 * V8 keeps a text that was put together as a tree of its parts until somebody looks into it. What lives long and is one of
 * millions, as ids are, is better one piece from the beginning: a tree takes twice the memory, and the collector's time for each part.
 */
export function flat(text: string): string {
  // Looking is what makes it one piece. The compiler must not know the answer beforehand (that no code is below 0, it knows), or nobody looks.
  return text.charCodeAt(0) === 0 ? '' : text
}
