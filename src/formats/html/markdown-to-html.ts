/**
 * Converts Markdown (GitHub's, with the HTML in it) to HTML. The text is a template: its markers
 * appear in the HTML exactly as they were written. A line that consists of template tags only is no
 * paragraph and ends the paragraph before it, so that a tag pair on such lines can enclose whole
 * blocks. A hostile text takes up to two seconds (`BoundedLexer`), so call this on a thread that
 * may be ended.
 */
import { hash } from 'node:crypto'
import {
  Lexer,
  Marked,
  type MarkedOptions,
  type Token,
  type TokenizerObject,
  type TokensList,
} from 'marked'
import { MAX_MARKERS, MAX_TEMPLATE_LENGTH } from '../template/limits.ts'
import { type Marker, scanMarkers } from '../template/markers.ts'

/**
 * A larger table is not parsed: every row gets as many cells as the first row, however short it is.
 */
const MAX_TABLE_CELLS = 20_000
/**
 * The word that replaces a template marker, because no rule of Markdown changes a word. `t`: a tag
 * in a line of tags; `n`: any other marker.
 */
const WORD = /pbx([0-9a-f]{16})[nt](\d{5})z/g
/**
 * The beginning of the comment that hides the words of a line of tags. In code blocks the comment
 * is escaped.
 */
const COMMENT_START = /(?:<|&lt;)!--(?=pbx[0-9a-f]{16}t)/g
const COMMENT_END = /(pbx[0-9a-f]{16}t\d{5}z)--(?:>|&gt;)/g
/**
 * The longest link without brackets. The library shortens such a link from its end in steps, and
 * each step reads the whole link.
 */
const MAX_BARE_LINK = 4_096
const BARE_LINK = new RegExp(`^[^\\s<]{0,${MAX_BARE_LINK}}`)
/**
 * The rules that the library tries first for every block and every part of a line. They count
 * steps, and return false so that the library's own rule runs. `url` refuses links that are too
 * long for that rule.
 */
const COUNTING_RULES: TokenizerObject = {
  space(source) {
    spend(this.lexer, source.length)
    return false
  },
  escape(source) {
    spend(this.lexer, source.length)
    return false
  },
  url: (source) => (BARE_LINK.exec(source)?.[0].length === MAX_BARE_LINK ? undefined : false),
}
const marked = new Marked({
  gfm: true,
  tokenizer: {
    ...COUNTING_RULES,
    table: (source) => (isLargeTable(source) ? undefined : false),
  },
})
const MAX_CPU_MS = 2_000
const STEPS_PER_READING = 1_000_000
/** The steps that one rule counts at least, even on a short text. */
const LEAST_STEPS = 100

/**
 * Null if the text takes too much processor time, or if its HTML is longer than a template may be.
 */
export function markdownToHtml(source: string, { maxCpuMs = MAX_CPU_MS } = {}): string | null {
  const markers = scanMarkers(source, MAX_MARKERS)
  const key = hash('sha256', source, 'hex').slice(0, 16)
  const html = parse(hideMarkers(source, markers, key), maxCpuMs)
  if (html === null) return null
  const bare = html.replace(COMMENT_START, '').replace(COMMENT_END, '$1')
  const shown = bare.replace(WORD, (word, found: string, number: string) => {
    const marker = found === key ? markers[Number(number)] : undefined
    return marker === undefined ? word : textOf(source, marker)
  })
  return shown.length > MAX_TEMPLATE_LENGTH ? null : shown
}

function parse(text: string, maxCpuMs: number): string | null {
  try {
    return marked.parser(new BoundedLexer(marked.defaults, maxCpuMs).lex(text))
  } catch (error) {
    if (error instanceof TooMuchTimeError) return null
    // The blocks are nested too deeply for the stack.
    return null
  }
}

function hideMarkers(source: string, markers: readonly Marker[], key: string): string {
  let text = ''
  let copied = 0
  for (let index = 0; index < markers.length; ) {
    const before = source.slice(copied, markers[index]?.begin)
    const count = beginsLine(before, index) ? countTagsOfLine(source, markers, index) : 0
    const tags = Array.from({ length: count }, (_, at) => wordOf(key, 't', index + at))
    text += before + (count > 0 ? `<!--${tags.join('')}-->` : wordOf(key, 'n', index))
    index += Math.max(1, count)
    copied = markers[index - 1]?.end ?? source.length
  }
  return text + source.slice(copied)
}

/**
 * Whether a marker is the first text of its line. `before`: the text between the previous marker
 * and this one.
 */
function beginsLine(before: string, index: number): boolean {
  const lineEnd = before.lastIndexOf('\n')
  return (lineEnd !== -1 || index === 0) && isBlank(before.slice(lineEnd + 1))
}

/**
 * Counts the tags from the marker at `index` to the end of the line; 0 if the line contains
 * anything else.
 */
function countTagsOfLine(source: string, markers: readonly Marker[], index: number): number {
  for (let at = index; at < markers.length; at += 1) {
    const marker = markers[at]
    if (marker?.kind !== 'tag') return 0
    const behind = source.slice(marker.end, markers[at + 1]?.begin)
    const lineEnd = behind.indexOf('\n')
    if (!isBlank(lineEnd === -1 ? behind : behind.slice(0, lineEnd))) return 0
    if (lineEnd !== -1) return at + 1 - index
  }
  return markers.length - index
}

function isBlank(text: string): boolean {
  return /^[\t\r ]*$/.test(text)
}

function wordOf(key: string, kind: 'n' | 't', index: number): string {
  return `pbx${key}${kind}${String(index).padStart(5, '0')}z`
}

function textOf(source: string, { begin, end }: Marker): string {
  return source.slice(begin, end)
}

/** Whether a table is too large to parse. `source`: the text from the first row of the table on. */
function isLargeTable(source: string): boolean {
  if (!isTable(source)) return false
  const header = source.slice(0, source.indexOf('\n')).trim()
  const columns = countOf(header.replace(/^\||\|$/g, ''), '|') + 1
  const maxRows = MAX_TABLE_CELLS / columns
  let rows = 1
  for (let at = 0; at !== -1 && rows <= maxRows && source[at] !== '\n'; rows += 1) {
    at = source.indexOf('\n', at) + 1
    if (at === 0) return false
  }
  return rows > maxRows
}

/** Whether the second line is the row of dashes of a table, and not the line below a heading. */
function isTable(source: string): boolean {
  const begin = source.indexOf('\n') + 1
  const end = source.indexOf('\n', begin)
  const second = source.slice(begin, end === -1 ? source.length : end)
  return begin > 0 && /^[\t |:-]*$/.test(second) && /[|:]/.test(second)
}

function countOf(text: string, character: string): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) count += 1
  return count
}

/** The lexer has used up its processor time. */
class TooMuchTimeError extends Error {}

/**
 * The lexer of `marked` with a limit on its processor time. Each rule may look at all of the
 * remaining text, so the time of a hostile text grows with the square of its length, or with its
 * depth; such texts are refused. Ordinary Markdown of 250 KB stays far below the limit, with or
 * without blank lines. Among ordinary texts, only 250 KB of quotes whose lines continue without a
 * sign (`> a`, then `b`) come near the limit.
 *
 * Each character that a rule may look at counts as a step, and the clock is read after many steps.
 * Most rules look at few of these characters, so steps do not measure the cost of a text.
 */
class BoundedLexer extends Lexer {
  readonly #began = process.threadCpuUsage()
  readonly #maxCpuMs: number
  #steps = 0

  constructor(options: MarkedOptions, maxCpuMs: number) {
    super(options)
    this.#maxCpuMs = maxCpuMs
  }

  /** @throws TooMuchTimeError */
  spend(steps: number): void {
    this.#steps += LEAST_STEPS + steps
    if (this.#steps >= STEPS_PER_READING) this.#check()
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList
  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[] {
    // The rule for quotes may read all of the remaining text between two calls of `spend`.
    this.#check()
    return super.blockTokens(source, tokens, isClipped)
  }

  override inlineTokens(source: string, tokens?: Token[]): Token[] {
    this.spend(source.length)
    return super.inlineTokens(source, tokens)
  }

  #check(): void {
    this.#steps = 0
    const { user, system } = process.threadCpuUsage(this.#began)
    if (user + system > this.#maxCpuMs * 1_000) throw new TooMuchTimeError()
  }
}

function spend(lexer: unknown, steps: number): void {
  if (lexer instanceof BoundedLexer) lexer.spend(steps)
}
