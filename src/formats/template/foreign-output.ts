/**
 * Finds placeholders of other template languages that Liquid would accept without a word, or refuse
 * without a hint: it would print "false" for `{{> header}}`, and nothing for `{{ .Name }}`.
 *
 * Only placeholders count that clearly belong to another language: `{{ $ price }}` and
 * `{{ user .name }}` print nothing, or a value, as other misspelled names do. `{{ if name }}` and
 * `{{ end }}` alone may be variables, too. Together they are a block of Go, and Liquid would print
 * both branches.
 */
import { type Marker, markerContent } from './markers.ts'

/**
 * `content`: the decoded content of the marker. `hint`: undefined for a placeholder of this
 * language. `isEnd`: the placeholder ends a block, or begins another branch of a block, that is
 * listed before it.
 */
type Output = {
  marker: Marker
  content: string
  hint: string | undefined
  isEnd: boolean
}
type ForeignOutput = Output & { hint: string }

/** The beginning of a hint that continues with `clicks` or `openings`. */
export const TRACKING = 'the tracking of the project decides about'
/**
 * Parts of sentences that say what to write instead of a foreign placeholder; `foreign-syntax.ts`
 * uses them, too.
 */
export const HINTS = {
  tags: 'write tags: {% if name %}…{% else %}…{% endif %}, {% for item in items %}…{% endfor %}',
  trackLink: `write the link itself: ${TRACKING} clicks`,
  trackView: `leave it out: ${TRACKING} openings`,
  unsubscribeUrl: 'write {{ unsubscribeUrl }}',
} as const
const NO_PARTIALS = 'there are no partials; write their text here'
const COMMENT = 'write comments as {% comment %}…{% endcomment %}'
const NO_FUNCTIONS = 'there are no functions; write {{ name }}, a filter or a tag'

/** The first words of the patterns in `FOREIGN`; none has more than 20 letters. */
const WORDS = new Set([
  ...['template', 'define', 'block', 'Date', 'Safe', 'L', 'TrackLink', 'TrackView'],
  ...['UnsubscribeURL', 'printf', 'print', 'println', 'urlquery'],
])
/** The beginning of a foreign placeholder, and the hint for it. */
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

/** A path of Go, such as `.Subscriber.Attribs.city` or `$.Name`. */
const GO_PATH = /^\$?\.(?<path>\p{Lu}[\p{L}\p{N}_.]{0,200})/u
/** A root of listmonk's paths, anywhere outside quotes. */
const LISTMONK = /^[^"'`?|]*(?<![^\s(])\.(?:Subscriber|Campaign|Tx)\b/

const BLOCK = /^(?<word>if|range|with)\s+(?<rest>\S)/
const BRANCH = /^(?:end|else)$|^else\s+(?:if|with)\s/
/** A section of Handlebars or Mustache: `{{#if x}}`, `{{^x}}`, `{{/if}}`. */
const SECTION = /^(?<sign>[#^/])(?<name>\p{L}[^\s~]{0,60})/u
const SECTION_BRANCH = /^\^$|^else(?:$|\s+(?:if|unless|each|with)\s)/
/** A comparison of Go, such as `eq .Plan "pro"`. */
const COMPARISON = /^eq\s+(?<path>[$.][\p{L}\p{N}_.]{1,200})\s+(?<text>"[^"]{0,60}")/u
/** The last word of an assignment of Go: `.Items` in `$i, $item := .Items`. */
const LAST_PATH = /(?<![^\s])[$.][\p{L}\p{N}_.]{1,200}$/u

/** Paths of listmonk whose next word is a key of the data here. */
const DATA_PATHS = ['Subscriber.Attribs.', 'Tx.Data.']
const NAMES: ReadonlyMap<string, string> = new Map([
  ['Subscriber', 'name'],
  ['Subscriber.FirstName', 'name'],
  ['Subscriber.LastName', 'name'],
  ['Subscriber.UUID', 'id'],
  ['Subscriber.Status', 'subscribed'],
  ['Subscriber.Attribs', 'name'],
])
/** Characters of the longest name that a hint quotes. */
const MAX_HINTED_LENGTH = 60

const OPERAND = /^(?:[\w.]+|"[^"]*"|'[^']*')$/

/**
 * The meaning of one placeholder, apart from the placeholders around it. `block`: the hint for the
 * block that it may begin; undefined if it begins none.
 */
type OutputReading = {
  content: string
  hint: string | undefined
  block: string | undefined
  section: { sign?: string; name?: string }
}

/** Lists the placeholders of other languages among the markers, in the order of the text. */
export function listForeignOutputs(source: string, markers: readonly Marker[]): ForeignOutput[] {
  const isForeign = (output: Output): output is ForeignOutput => output.hint !== undefined
  const foreign = walkOutputs(source, markers).filter(isForeign).toArray()
  return foreign.sort((one, other) => one.marker.begin - other.marker.begin)
}

/**
 * Yields the placeholders among the markers; equal placeholders are read once. The beginning of a
 * block is yielded when its end is found, so the order is not that of the text.
 */
export function* walkOutputs(source: string, markers: readonly Marker[]): Generator<Output> {
  /** Placeholders that begin a block if its end follows, and else are variables. */
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
  /** Placeholder as written -> its reading. Most templates repeat a few placeholders many times. */
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

/**
 * Returns a function that follows the sections: it says whether a placeholder ends an earlier
 * section or begins another branch of it.
 */
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

/** Whether a plain placeholder with this key may belong to another language. */
export function isOddKey(key: string): boolean {
  return !/^[\p{L}_]/u.test(key) || BLOCK.test(key) || key.includes(' if ')
}

export function describeForeign({ hint }: ForeignOutput): string {
  return `a placeholder of another language; ${hint}`
}

/**
 * The hint for a placeholder that alone shows its language; undefined for any other. `block`: the
 * hint for the block that the placeholder may begin.
 */
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

/** The hint for a placeholder that may begin a block of Go; undefined for any other. */
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

/** The key of this language for a path of Go: `city` for `.Subscriber.Attribs.city`. */
function nameOf(written: string, otherwise = 'name'): string {
  const path = written.replace(/^\$?\.?/, '')
  const prefix = DATA_PATHS.find((each) => path.startsWith(each))
  const last = path.slice(path.lastIndexOf('.') + 1)
  const name =
    prefix === undefined ? (NAMES.get(path) ?? withSmallLetter(last)) : path.slice(prefix.length)
  return name === '' || name.length > MAX_HINTED_LENGTH ? otherwise : name
}

/** Turns `URL` into `url`, and `FirstName` into `firstName`. */
function withSmallLetter(name: string): string {
  if (!/\p{Ll}/u.test(name)) return name.toLowerCase()
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/**
 * Whether the content is `x if y else z` of Jinja. A key of several words is not: then one of the
 * three parts has several words.
 */
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
