/**
 * Parses a regular expression (ECMA-262 section 22.2.1 and Annex B.1.2) into a tree. `RegExp` has accepted
 * the source, so errors of syntax are not looked for. Inline modifiers are not supported.
 */

export type RegexNode =
  /** One character; `source` is the set as a regular expression of its own. */
  | { kind: 'set'; source: string }
  | { kind: 'sequence'; parts: RegexNode[] }
  | { kind: 'choice'; options: RegexNode[] }
  | { kind: 'repeat'; body: RegexNode; min: number; max: number; isLazy: boolean }
  | { kind: 'capture'; body: RegexNode; index: number }
  | { kind: 'look'; body: RegexNode; isAhead: boolean; isNegated: boolean }
  | { kind: 'place'; is: 'start' | 'end' | 'word edge' | 'no word edge' }
  /** Captures are numbered from 1. */
  | { kind: 'reference'; index: number }

export type RegexTree = { root: RegexNode; captures: number }

type Place = Extract<RegexNode, { kind: 'place' }>['is']

const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/y
const GROUP = /\((?:\?(?:([:=!])|<([=!])|<([^>]+)>))?/y
const ESCAPE_UNICODE =
  /\\(?:u\{[^}]+\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]+\}|[\s\S])/uy
const ESCAPE_PLAIN = /\\(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|[0-3]?[0-7]{1,2}|[\s\S])/y
const ANY_GROUP = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?:\?<(?![=!])([^>]+)>|(?!\?))/g
const SIMPLE_PLACES: Record<string, Place> = { '^': 'start', $: 'end' }

export function parseRegex({ source, flags }: RegExp): RegexTree {
  const reader = new Reader(source, flags)
  const root = reader.readChoice()
  if (reader.at !== source.length) throw new TypeError(`cannot read /${source}/ at ${reader.at}`)
  return { root, captures: reader.names.length }
}

class Reader {
  at = 0
  /** The name of each capture, '' without one. */
  readonly names: string[]
  private readonly source: string
  private readonly hasSets: boolean
  private readonly isUnicode: boolean
  private captures = 0

  constructor(source: string, flags: string) {
    this.source = source
    this.hasSets = flags.includes('v')
    this.isUnicode = this.hasSets || flags.includes('u')
    const groups = [...source.matchAll(ANY_GROUP)].filter(([found]) => found.startsWith('('))
    this.names = groups.map(([, name = '']) => name)
  }

  readChoice(): RegexNode {
    const options = [this.readSequence()]
    while (this.source[this.at] === '|') {
      this.at += 1
      options.push(this.readSequence())
    }
    return options.length === 1 ? options[0]! : { kind: 'choice', options }
  }

  private readSequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.at < this.source.length && !'|)'.includes(this.source[this.at]!)) {
      parts.push(this.readQuantified())
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts }
  }

  private readQuantified(): RegexNode {
    const body = this.readAtom()
    const found = this.take(QUANTIFIER)
    if (found === undefined) return body
    const [, sign, least, comma, most, lazy] = found
    const min = sign === undefined ? Number(least) : sign === '+' ? 1 : 0
    const isOpen = sign === '*' || sign === '+' || (comma === ',' && most === '')
    const max = isOpen ? Number.POSITIVE_INFINITY : sign === '?' ? 1 : Number(most || least)
    return { kind: 'repeat', body, min, max, isLazy: lazy === '?' }
  }

  private readAtom(): RegexNode {
    const char = this.source[this.at]!
    if (char === '(') return this.readGroup()
    if (char === '[') return this.readClass()
    if (char === '\\') return this.readEscape()
    const is = SIMPLE_PLACES[char]
    if (is !== undefined) {
      this.at += 1
      return { kind: 'place', is }
    }
    const literal = this.isUnicode ? String.fromCodePoint(this.source.codePointAt(this.at)!) : char
    this.at += literal.length
    return { kind: 'set', source: /[{}\]]/.test(literal) ? `\\${literal}` : literal }
  }

  private readGroup(): RegexNode {
    const found = this.take(GROUP)!
    const [whole, ahead, behind, name] = found
    if (whole === '(' && this.source[this.at] === '?') {
      throw new TypeError(`the group at ${this.at} of /${this.source}/ is not supported`)
    }
    const isCapture = whole === '(' || name !== undefined
    if (isCapture) this.captures += 1
    const index = this.captures
    const body = this.readChoice()
    this.at += 1
    if (isCapture) return { kind: 'capture', body, index }
    if (ahead === ':') return body
    const isNegated = (ahead ?? behind) === '!'
    return { kind: 'look', body, isAhead: ahead !== undefined, isNegated }
  }

  private readClass(): RegexNode {
    const start = this.at
    for (let depth = 0; ; this.at += 1) {
      const char = this.source[this.at]
      if (char === '\\') this.at += 1
      else if (char === '[' && (depth === 0 || this.hasSets)) depth += 1
      else if (char === ']') depth -= 1
      if (depth === 0) break
    }
    this.at += 1
    return { kind: 'set', source: this.source.slice(start, this.at) }
  }

  private readEscape(): RegexNode {
    const edge = this.take(/\\([bB])/y)
    if (edge !== undefined) {
      return { kind: 'place', is: edge[1] === 'b' ? 'word edge' : 'no word edge' }
    }
    const reference = this.readReference()
    if (reference !== undefined) return { kind: 'reference', index: reference }
    const [source] = this.take(this.isUnicode ? ESCAPE_UNICODE : ESCAPE_PLAIN)!
    const isHalf = this.isUnicode && /^\\u[dD][89abAB]/.test(source)
    const low = isHalf ? this.take(/\\u[dD][c-fC-F][\dA-Fa-f]{2}/y) : undefined
    return { kind: 'set', source: source + (low?.[0] ?? '') }
  }

  /** `\1` without as many captures is an octal escape. */
  private readReference(): number | undefined {
    const named = this.names.some((name) => name !== '') ? this.take(/\\k<([^>]+)>/y) : undefined
    if (named !== undefined) return this.names.indexOf(named[1]!) + 1
    const at = this.at
    const number = Number(this.take(/\\([1-9]\d*)/y)?.[1] ?? 0)
    if (number > 0 && number <= this.names.length) return number
    this.at = at
    return undefined
  }

  private take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)
    if (found !== null) this.at = pattern.lastIndex
    return found ?? undefined
  }
}
