/** Whether a text has all words of a search, in any order. */
export function matches(text: string, search: string): boolean {
  const within = text.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word))
}
