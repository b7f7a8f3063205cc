/** The characters that one set of a regular expression takes, as the engine itself says. */

type Test = (char: string) => boolean
export type CharacterSet = { test: Test; table: Uint8Array; others: Map<number, boolean> }

export const TABLE_SIZE = 256

const known = new Map<string, CharacterSet>()

/** `source`: `a`, `\d`, `[^x-z]`; the flags are those of the whole regular expression. */
export function characterSet(source: string, { flags }: RegExp): CharacterSet {
  const relevant = flags.replace(/[^isuv]/g, '')
  const key = `${relevant}/${source}`
  let set = known.get(key)
  if (set === undefined) {
    const regex = new RegExp(`^(?:${source})$`, relevant)
    set = tabulate((char) => regex.test(char))
    known.set(key, set)
  }
  return set
}

export function unionOf(sources: readonly string[], regex: RegExp): CharacterSet {
  const sets = [...new Set(sources)].map((source) => characterSet(source, regex))
  return tabulate((char) => sets.some((set) => isIn(set, char.codePointAt(0) ?? -1)))
}

/** `char`: a code point or code unit; -1 for none. */
export function isIn({ test, table, others }: CharacterSet, char: number): boolean {
  if (char < 0) return false
  if (char < TABLE_SIZE) return table[char] === 1
  let isMember = others.get(char)
  if (isMember === undefined) {
    isMember = test(String.fromCodePoint(char))
    others.set(char, isMember)
  }
  return isMember
}

function tabulate(test: Test): CharacterSet {
  const isMember = (_: unknown, char: number) => (test(String.fromCharCode(char)) ? 1 : 0)
  return { test, table: Uint8Array.from({ length: TABLE_SIZE }, isMember), others: new Map() }
}
