/**
 * Finds placeholders of other services that were left in a text: Pillarbox prints nothing for them,
 * or sends them as they are.
 */
import type { MessageFinding } from '../../../formats/compose/message-findings.ts'
import { HINTS, TRACKING, walkOutputs } from '../../../formats/template/foreign-output.ts'
import { MAX_MARKERS } from '../../../formats/template/limits.ts'
import { scanMarkers } from '../../../formats/template/markers.ts'
import { parseOutput } from '../../../formats/template/output-grammar.ts'

type Syntax = {
  service: string
  /** How the content of a placeholder begins. */
  begins: readonly string[]
  fix: string
}

/**
 * The beginnings of placeholders that only listmonk fills in: its root names, and its functions.
 */
const LISTMONK =
  /\.(?:Subscriber|Tx|Campaign)\b|(?:^|\|\s{0,9})(?:Date|Safe|L\.T[cs]?|Track(?:Link|View)|(?:Unsubscribe|Manage|Optin|Message|Archive|Root)URL)(?!\w)/
/** The beginnings of blocks, paths, comments and functions in templates of Go. */
const GO = /^(?:[$.]|\/\*|(?:if|range|with|template|define|block|print|printf|println|urlquery)\s)/
const TAGS = 'Write tags: {% if name %}…{% else %}…{% endif %}.'
const UNSUBSCRIBE = toSentence(HINTS.unsubscribeUrl)

/**
 * Placeholders that other services use. Those whose syntax alone is of another language are in
 * `foreign-output.ts`, too.
 */
const PLACEHOLDERS: readonly Syntax[] = [
  {
    service: 'listmonk',
    begins: ['.Campaign', 'MessageURL', 'ArchiveURL', 'RootURL', 'template "content"'],
    fix: 'Leave it out: the body is the whole message.',
  },
  { service: 'listmonk', begins: ['TrackLink'], fix: toSentence(HINTS.trackLink) },
  { service: 'listmonk', begins: ['TrackView'], fix: toSentence(HINTS.trackView) },
  { service: 'listmonk', begins: ['UnsubscribeURL'], fix: UNSUBSCRIBE },
  { service: 'listmonk', begins: ['ManageURL'], fix: 'Write {{ manageUrl }}.' },
  { service: 'listmonk', begins: ['OptinURL'], fix: 'Write {{ subscribeUrl }}.' },
  {
    service: 'Handlebars',
    begins: ['#if', '#unless', '#each', '#with'],
    fix: toSentence(HINTS.tags),
  },
]

/** The first characters of all these placeholders. */
const BEGINNINGS = new Set(
  PLACEHOLDERS.flatMap(({ begins }) => begins.map((each) => each.charAt(0))),
)

const TRACK_LINK = '@TrackLink'
/** `*|FNAME|*`, `*|IF:PLAN=pro|*` */
const MERGE_TAG = /\*\|[A-Z][A-Z0-9_]{0,40}(?::[^|*\n]{0,60})?\|\*/g
const MERGE_TAG_FIXES: ReadonlyMap<string, string> = new Map([
  ['UNSUB', UNSUBSCRIBE],
  ['UPDATE_PROFILE', 'Write {{ manageUrl }}.'],
  ['EMAIL', 'Write {{ email }}.'],
  ...['IF', 'IFNOT', 'ELSEIF', 'ELSE', 'END'].map((name) => [name, TAGS] as const),
  ['LIST', 'Write {{ postalAddress }} for the address of the sender.'],
  ['LIST_ADDRESS', 'Write {{ postalAddress }}.'],
])
/** The fix for a placeholder that is no marker of Liquid, and would be sent as it is. */
const WRITE_KEY = 'Write the key of the data of contacts, such as {{ name }}.'
const FOREIGN_TEXTS: readonly { service: string; pattern: RegExp; fix?: string }[] = [
  { service: 'Mailgun', pattern: /%recipient\.\w{1,40}%/g },
  { service: 'MailerLite', pattern: /\{\$\w{1,40}\}/g },
  { service: 'ERB or EJS', pattern: /<%[=-]\s?[\w.@]{1,60}\s?%>/g },
  {
    service: 'ERB',
    pattern: /<%-?\s?(?:if|unless|elsif|else|end)(?!\w)[^%<>]{0,60}%>/g,
    fix: TAGS,
  },
]
const MAX_FINDINGS = 10
const MAX_SHOWN = 60

/**
 * Finds the placeholders of other services in texts; each is named once. `hasValue`: whether a
 * variable of this name exists, so that its placeholder is not of another service.
 */
export function findForeignSyntax(
  sources: readonly string[],
  hasValue: (name: string) => boolean = () => false,
): MessageFinding[] {
  const found = new Map<string, MessageFinding>()
  for (const source of sources) {
    const outputs = listOutputs(source, { found, hasValue })
    for (const { text, syntax } of outputs) add(found, text, syntax)
    if (source.includes(TRACK_LINK)) {
      const fix = `Delete ${TRACK_LINK} after the link: ${TRACKING} clicks.`
      add(found, TRACK_LINK, { service: 'listmonk', fix })
    }
    for (const [tag] of source.matchAll(MERGE_TAG)) {
      if (found.size >= MAX_FINDINGS) break
      add(found, tag, { service: 'Mailchimp', fix: fixOfTag(tag) })
    }
    for (const { service, pattern, fix = WRITE_KEY } of FOREIGN_TEXTS) {
      for (const [text] of source.matchAll(pattern)) {
        if (found.size >= MAX_FINDINGS) break
        add(found, text, { service, fix })
      }
    }
  }
  return [...found.values()]
}

type ForeignService = Pick<Syntax, 'service' | 'fix'>
type NamedOutput = { begin: number; text: string; syntax: ForeignService }

/**
 * Lists the first placeholders of other services that are not in `found` yet, in their order in the
 * text.
 */
function listOutputs(
  source: string,
  {
    found,
    hasValue,
  }: { found: ReadonlyMap<string, MessageFinding>; hasValue: (name: string) => boolean },
): NamedOutput[] {
  const listed: NamedOutput[] = []
  const seen = new Set<string>()
  if (found.size >= MAX_FINDINGS) return []
  for (const output of walkOutputs(source, scanMarkers(source, MAX_MARKERS))) {
    const { content, hint, isEnd } = output
    if (isEnd || seen.has(content)) continue
    seen.add(content)
    const syntax = syntaxOf(content) ?? (hint === undefined ? undefined : toSyntax(content, hint))
    if (syntax === undefined || hasValue(rootOf(content))) continue
    const text = `{{ ${shorten(content)} }}`
    if (found.has(text)) continue
    listed.push({ begin: output.marker.begin, text, syntax })
    if (found.size + listed.length === MAX_FINDINGS) break
  }
  return listed.sort((one, other) => one.begin - other.begin)
}

/** Returns the variable that a placeholder prints, without its fallback and filters. */
function rootOf(content: string): string {
  return parseOutput(content).path?.[0] ?? content
}

function toSyntax(content: string, hint: string): ForeignService {
  const language = GO.test(content) ? 'Go or another language' : 'another language'
  const service = LISTMONK.test(content) ? 'listmonk' : language
  return { service, fix: toSentence(hint) }
}

function toSentence(hint: string): string {
  return `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`
}

function syntaxOf(content: string): ForeignService | undefined {
  if (!BEGINNINGS.has(content.charAt(0))) return undefined
  return PLACEHOLDERS.find(({ begins }) => begins.some((each) => isBegin(content, each)))
}

/**
 * Whether `findForeignSyntax` takes a variable of this name for a placeholder of another service,
 * although it may be a key of contacts.
 */
export function isForeignName(name: string): boolean {
  return syntaxOf(name) !== undefined
}

/**
 * Whether the content begins with this placeholder. A variable whose name only begins the same is
 * another one.
 */
function isBegin(content: string, begin: string): boolean {
  const next = content.charAt(begin.length)
  return content.startsWith(begin) && (begin.endsWith('"') || !/\w/.test(next))
}

function fixOfTag(tag: string): string {
  const name = tag.slice(2, -2).split(':')[0] ?? ''
  const isName = name === 'FNAME' || name === 'LNAME'
  const example = isName ? '{{ name }}' : `{{ ${name.toLowerCase()} }}`
  return MERGE_TAG_FIXES.get(name) ?? `Write the key of the data of contacts, such as ${example}.`
}

function add(
  found: Map<string, MessageFinding>,
  text: string,
  { service, fix }: ForeignService,
): void {
  if (found.has(text) || found.size >= MAX_FINDINGS) return
  const message = `${text} is a placeholder of ${service}, which has no meaning here.`
  found.set(text, { code: 'foreign_syntax', severity: 'warning', message, fix })
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN).toWellFormed()}…`
}
