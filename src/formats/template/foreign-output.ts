/**
 * Placeholders of other template languages that Liquid would take without a word, or refuse without a hint:
 * `{{> header}}` would print "false", and `{{ .Name }}` nothing. Only what is clearly of another language
 * counts: `{{ $ price }}` and `{{ user .name }}` print nothing, or a value, as other misspelled names do.
 *
 * `{{ if name }}` and `{{ end }}` may be variables, too. Together they are a block of Go, whose both branches
 * would be printed.
 */
import { type Marker, markerContent } from './markers.ts'

/**
 * `content` is decoded. `hint`: undefined for a placeholder of this language. `isEnd`: the end, or another branch,
 * of a block that is listed before it.
 */
type Output = {
  marker: Marker
  content: string
  hint: string | undefined
  isEnd: boolean
}
type ForeignOutput = Output & { hint: string }

/** `clicks` or `openings` follow. */
export const TRACKING = 'the tracking of the project decides about'
/** What to write instead, as part of a sentence; `foreign-syntax.ts` uses these hints, too. */
export const HINTS = {
  tags: 'write tags: {% if name %}…{% else %}…{% endif %}, {% for item in items %}…{% endfor %}',
  trackLink: `write the link itself: ${TRACKING} clicks`,
  trackView: `leave it out: ${TRACKING} openings`,
  unsubscribeUrl: 'write {{ unsubscribeUrl }}',
} as const
const NO_PARTIALS = 'there are no partials; write their text here'
const COMMENT = 'write comments as {% comment %}…{% endcomment %}'
const NO_FUNCTIONS = 'there are no functions; write {{ name }}, a filter or a tag'

/** The first words of `FOREIGN`; longer words than 20 letters are none of them. */
const WORDS = new Set([
  ...['template', 'define', 'block', 'Date', 'Safe', 'L', 'TrackLink', 'TrackView'],
  ...['UnsubscribeURL', 'printf', 'print', 'println', 'urlquery'],
])
/** How the content of a placeholder begins, and what to write. */
const FOREIGN: readonly (readonly [begin: RegExp, hint: string])[] = [
  [/^[#^/]\p{L}/u, HINTS.tags],
  [/^>/, NO_PARTIALS],
  [/^\{/, 'two braces are enough; {{ name | raw }} prints a value unescaped'],
  [/^&(?![\p{L}\p{N}#]{1,32};)/u, 'write {{ name | raw }} for a value that is not escaped'],
  [/^(?:!|\/\*)/, COMMENT],
  [/^(?:template|define|block)\s+["`]/, NO_PARTIALS],
  [/^\$\w*\s*:=/, 'write {% assign name = "text" %}'],
  [/^Date\s+["`]/, 'write {{ "now" | date: "%Y-%m-%d" }}'],
  [/^Safe\s+[."`(]/, 'write the HTML itself, or {{ name | raw }} for a value that is not escaped'],
  [/^L\.T[cs]{0,2}\s+["`]/, 'write the text itself'],
  [/^TrackLink\s+[."`(]/, HINTS.trackLink],
  [/^TrackView\s+\.$/, HINTS.trackView],
  [/^UnsubscribeURL\s+\.$/, HINTS.unsubscribeUrl],
  [/^(?:printf|print|println|urlquery)\s+["`]/, NO_FUNCTIONS],
  [/^\.Campaign\b/, 'there are no variables of the campaign; write its text here'],
]

/** `.Subscriber.Attribs.city`, `$.Name` */
const GO_PATH = /^\$?\.(?<path>\p{Lu}[\p{L}\p{N}_.]{0,200})/u
/** The roots of listmonk, wherever they stand outside quotes. */
const LISTMONK = /^[^"'`?|]*(?<![^\s(])\.(?:Subscriber|Campaign|Tx)\b/

const BLOCK = /^(?<word>if|range|with)\s+(?<rest>\S)/
const BRANCH = /^(?:end|else)$|^else\s+(?:if|with)\s/
/** `{{#if x}}`, `{{^x}}` and `{{/if}}` of Handlebars and Mustache. */
const SECTION = /^(?<sign>[#^/])(?<name>\p{L}[^\s~]{0,60})/u
const SECTION_BRANCH = /^\^$|^else(?:$|\s+(?:if|unless|each|with)\s)/
/** `eq .Plan "pro"` */
const COMPARISON = /^eq\s+(?<path>[$.][\p{L}\p{N}_.]{1,200})\s+(?<text>"[^"]{0,60}")/u
/** The last word of `$i, $item := .Items`. */
const LAST_PATH = /(?<![^\s])[$.][\p{L}\p{N}_.]{1,200}$/u

/** The paths below which listmonk keeps the values that are keys of the data here. */
const DATA_PATHS = ['Subscriber.Attribs.', 'Tx.Data.']
const NAMES: ReadonlyMap<string, string> = new Map([
  ['Subscriber', 'name'],
  ['Subscriber.FirstName', 'name'],
  ['Subscriber.LastName', 'name'],
  ['Subscriber.UUID', 'id'],
  ['Subscriber.Status', 'subscribed'],
  ['Subscriber.Attribs', 'name'],
])
/** Characters of a name; a longer name is not quoted. */
const MAX_HINTED_LENGTH = 60

const OPERAND = /^(?:[\w.]+|"[^"]*"|'[^']*')$/

/**
 * The meaning of a content by itself, without the contents around it. `block`: what to write for
 * the block that it begins.
 */
type OutputReading = {
  content: string
  hint: string | undefined
  block: string | undefined
  section: { sign?: string; name?: string }
}

/** The placeholders of another language among the markers, in their order. */
export function listForeignOutputs(source: string, markers: readonly Marker[]): ForeignOutput[] {
  const isForeign = (output: Output): output is ForeignOutput => output.hint !== undefined
  const foreign = walkOutputs(source, markers).filter(isForeign).toArray()
  return foreign.sort((one, other) => one.marker.begin - other.marker.begin)
}

/**
 * The placeholders among the markers; what is written alike is read once. The beginning of a block comes once the
 * walk has met its end, so the order is another one.
 */
export function* walkOutputs(source: string, markers: readonly Marker[]): Generator<Output> {
  /** Beginnings of blocks that are variables if no end follows. */
  let begun: ForeignOutput[] = []
  let isInBlock = false
  const isSectionEnd = followSections()
  for (const [marker, reading] of readOutputs(source, markers)) {
    const { content, hint, block } = reading
    const isEnd = isSectionEnd(reading)
    if (block !== undefined) {
      isInBlock = true
      if (hint === undefined) begun.push({ marker, content, hint: block, isEnd: false })
      else yield { marker, content, hint, isEnd: false }
    } else if (hint === undefined && (isEnd || (isInBlock && BRANCH.test(content)))) {
      yield* begun
      begun = []
      yield { marker, content, hint: HINTS.tags, isEnd: true }
    } else yield { marker, content, hint, isEnd }
  }
  for (const each of begun) yield { ...each, hint: undefined }
}

function* readOutputs(
  source: string,
  markers: readonly Marker[],
): Generator<[Marker, OutputReading]> {
  /** By source text: most templates repeat a few placeholders many times. */
  const known = new Map<string, OutputReading>()
  for (const marker of markers) {
    if (marker.kind !== 'output') continue
    const written = source.slice(marker.begin, marker.end)
    let reading = known.get(written)
    if (reading === undefined) {
      reading = readContent(markerContent(source, marker))
      known.set(written, reading)
    }
    yield [marker, reading]
  }
}

/** Tells whether a content is the end, or another branch, of a section that a content before it has begun. */
function followSections(): (reading: OutputReading) => boolean {
  const begun = new Set<string>()
  let depth = 0
  return ({ content, section: { sign, name = '' } }) => {
    if (sign === undefined) return depth > 0 && SECTION_BRANCH.test(content)
    if (sign === '/') {
      depth = Math.max(0, depth - 1)
      return begun.size > 0
    }
    depth += 1
    const isBranch = sign === '^' && begun.has(name)
    begun.add(name)
    return isBranch
  }
}

function readContent(content: string): OutputReading {
  const section = { ...SECTION.exec(content)?.groups }
  const block = blockHint(content)
  return { content, hint: hintOf(content, block), block, section }
}

/** Whether the key of a plain placeholder may be one of another language. */
export function isOddKey(key: string): boolean {
  return !/^[\p{L}_]/u.test(key) || BLOCK.test(key) || key.includes(' if ')
}

export function describeForeign({ hint }: ForeignOutput): string {
  return `a placeholder of another language; ${hint}`
}

/** The hint for a content that is of another language by itself, also one that begins a `block`. */
function hintOf(content: string, block: string | undefined): string | undefined {
  const [word] = /^\w{1,20}/.exec(content) ?? []
  if (word === undefined || WORDS.has(word)) {
    const known = FOREIGN.find(([begin]) => begin.test(content))?.[1]
    if (known !== undefined) return known
    const path = GO_PATH.exec(content)?.groups?.path
    if (path !== undefined) return `write the name alone: {{ ${nameOf(path)} }}`
  }
  if (content.includes('.') && LISTMONK.test(content)) return block ?? NO_FUNCTIONS
  return isInlineIf(content) ? HINTS.tags : undefined
}

/** The hint for a content that begins a block of Go. */
function blockHint(content: string): string | undefined {
  const word = BLOCK.exec(content)?.groups?.word
  if (word === undefined || content.includes('??')) return undefined
  const rest = content.slice(word.length).trim()
  if (word === 'range') {
    const list = nameOf(LAST_PATH.exec(rest)?.[0] ?? '', 'items')
    return `write {% for item in ${list} %}…{% endfor %}`
  }
  const compared = COMPARISON.exec(rest)?.groups
  const test =
    compared === undefined
      ? nameOf(/^[$.\p{L}\p{N}_]{1,200}$/u.test(rest) ? rest : '')
      : `${nameOf(compared.path ?? '')} == ${compared.text}`
  return `write {% if ${test} %}…{% else %}…{% endif %}`
}

/** The key here that a path of Go means: `.Subscriber.Attribs.city` is `city`. */
function nameOf(written: string, otherwise = 'name'): string {
  const path = written.replace(/^\$?\.?/, '')
  const prefix = DATA_PATHS.find((each) => path.startsWith(each))
  const last = path.slice(path.lastIndexOf('.') + 1)
  const name =
    prefix === undefined ? (NAMES.get(path) ?? withSmallLetter(last)) : path.slice(prefix.length)
  return name === '' || name.length > MAX_HINTED_LENGTH ? otherwise : name
}

/** `URL` is `url`, and `FirstName` is `firstName`. */
function withSmallLetter(name: string): string {
  if (!/\p{Ll}/u.test(name)) return name.toLowerCase()
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** `x if y else z` of Jinja. A key of several words is none: its parts have several words. */
function isInlineIf(content: string): boolean {
  const condition = content.indexOf(' if ')
  const otherwise = content.indexOf(' else ', condition + 3)
  if (condition === -1 || otherwise === -1 || content.includes('??')) return false
  const asked = content.slice(condition + 4, otherwise).trim()
  const [last = ''] = content.slice(otherwise + 6).split('|')
  const ends = [content.slice(0, condition), last]
  if (!ends.every((each) => OPERAND.test(each.trim()))) return false
  return OPERAND.test(asked.replace(/^not\s+/, '')) || /[=<>]/.test(asked)
}
