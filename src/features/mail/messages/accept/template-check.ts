/**
 * Finds the faults of syntax in the templates of a send request (subject, body and text), and turns
 * its Markdown into HTML. A text that takes long to check is checked in a composing thread, or not
 * at all if its faults would not stop the request. The check waits for a thread as a preview does:
 * up to a limit, and as long as the client waits.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import { createLru } from '../../../../base/lru.ts'
import { TABLES_OF_TEXT } from '../../../../formats/html/document.ts'
import {
  checkTemplate,
  findQuickFault,
  type TemplateFault,
} from '../../../../formats/template/template.ts'
import type { CheckedTemplate } from '../../../../outbound/composing/texts.ts'
import type { Outbound } from '../../../../outbound/outbound.ts'
import type { OnTemplateFault } from '../../../../store/schema/words.ts'
import { requireClient } from '../../../../turns/owner.ts'

/** `field`: a field of the request. `line`, `column`: counted from 1. */
export type FieldFault = {
  field: string
  message: string
  line: number | null
  column: number | null
}

type Texts = { subject?: string | undefined; body?: string | undefined; text?: string | undefined }

/**
 * `isQuick`: texts that take long are not checked. @throws AppError RATE_LIMIT_EXCEEDED,
 * EXTERNAL_SERVICE_ERROR; REQUEST_TIMEOUT when the client has left
 */
type TemplateChecker = (texts: Texts, options: { isQuick: boolean }) => Promise<FieldFault[]>

/**
 * How a request is checked. `onFault` replaces the project's setting. `body`: the text that the
 * client wrote, before it became HTML.
 */
export type TemplateCheck = {
  find: TemplateChecker
  onFault?: OnTemplateFault | undefined
  body?: string | undefined
}

const MAX_CACHED_CHARACTERS = 2 * 1024 * 1024

const MAX_CACHED_LENGTH = 64 * 1024

/**
 * The least number of characters that an entry of the cache counts with, so that the cache has at
 * most 8,192 entries.
 */
const MIN_COUNTED_LENGTH = 256

/** The length of a sample. A longer slice of a text would keep the whole text in memory. */
const SAMPLE_LENGTH = 12

const SAMPLES = 4

type KnownTemplate = { source: string; fault: TemplateFault | undefined }

const HAS_FAULT = 'the template has a fault'

/**
 * Kinds of faults whose message quotes at most an identifier of the template, or a tag of the
 * language.
 */
const QUOTABLE_FAULTS = [
  /^undefined filter: [A-Za-z0-9_]{1,40}$/,
  /^undefined filter(?=:)/,
  /^tag "[A-Za-z0-9_]{1,40}" not found$/,
  /^the tag "[a-z]{1,20}" is not available$/,
  /^(?:a placeholder of another language|invalid value expression|illegal tag)\b/,
]

const NOT_CLOSED =
  /^(?:(?<output>output)|tag "?\{%-?\s{0,9}(?<tag>if|unless|for|case|capture|comment|raw|tablerow)?(?![\w-])).* not closed$/s

const TOO_HEAVY = 'it takes too much time or memory to parse'

const TOO_COMPLEX = 'The Markdown takes too much time or memory; send HTML'

/**
 * Makes a checker. Call this once, because the checker remembers the templates that it has checked.
 * Without `outbound`, it checks all templates on this thread.
 */
export function createTemplateChecker(outbound?: Pick<Outbound, 'checkTemplate'>): TemplateChecker {
  const known = createLru<KnownTemplate>(MAX_CACHED_CHARACTERS, {
    sizeOf: ({ source }) => Math.max(MIN_COUNTED_LENGTH, source.length),
  })

  async function checkSlow(source: string): Promise<CheckedTemplate> {
    if (outbound === undefined) return checkTemplate(source)
    const fault = await outbound.checkTemplate(source)
    requireClient()
    return fault
  }

  async function find(
    source: string,
    { key, isQuick }: { key: string; isQuick: boolean },
  ): Promise<CheckedTemplate> {
    const quick = findQuickFault(source)
    if (quick === 'slow' && isQuick) return undefined
    const fault = quick === 'slow' ? await checkSlow(source) : quick
    // "Too heavy" is not remembered: the load of the machine may have been the reason.
    if (fault !== 'too heavy' && source.length <= MAX_CACHED_LENGTH)
      known.set(key, { source, fault })
    return fault
  }

  return async (texts, { isQuick }) => {
    const faults: FieldFault[] = []
    let field: keyof Texts
    for (field in texts) {
      const source = texts[field]
      if (source === undefined || !hasMarker(source)) continue
      const key = sampleOf(source)
      const cached = known.get(key)
      const isKnown = cached?.source === source
      const fault = isKnown ? cached.fault : await find(source, { key, isQuick })
      if (fault === 'too heavy')
        faults.push({ field, message: TOO_HEAVY, line: null, column: null })
      else if (fault !== undefined) faults.push({ field, ...fault })
    }
    return faults
  }
}

/** `Line 1, column 4: tag "if" not closed` */
export function describeFieldFault({ message, line, column }: FieldFault): string {
  return line === null || column === null ? message : `Line ${line}, column ${column}: ${message}`
}

/**
 * Throws an error if there are faults. Its text, which the request log keeps, quotes nothing of the
 * template but a short identifier.
 * @throws AppError VALIDATION_ERROR with `details` {field, line, column} of the first fault
 */
export function refuseFaults(faults: readonly FieldFault[]): void {
  const [first] = faults
  if (first === undefined) return
  const { field, line, column } = first
  const text = describeFieldFault(
    line === null ? first : { ...first, message: kindOf(first.message) },
  )
  const fields = faults.map((fault) => ({
    field: fault.field,
    code: 'template_syntax',
    message: describeFieldFault(fault),
  }))
  throw new AppError('VALIDATION_ERROR', `${field}: ${text.replace(/^Line/, 'line')}`, {
    fields,
    details: { field, line, column },
    suggestion:
      'Mend the template, or send it as it is with onTemplateFault=send, which fills in its placeholders.',
  })
}

/**
 * Turns Markdown with Liquid into HTML with the same Liquid. Waits for a thread as a preview does:
 * up to a limit, and as long as the client waits. @throws AppError VALIDATION_ERROR,
 * RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR; REQUEST_TIMEOUT when the client has left
 */
export async function htmlOfMarkdown(
  outbound: Pick<Outbound, 'convertMarkdown'>,
  source: string,
): Promise<string> {
  const html = await outbound.convertMarkdown(source)
  requireClient()
  if (html === null) throw invalidField('body', 'too_complex', TOO_COMPLEX)
  return html.includes('<table') ? TABLES_OF_TEXT + html : html
}

/**
 * Returns the key of a text in the cache: some samples of it. Texts that differ in one word, such
 * as a number that the client has filled in, mostly share a key, and the last one is remembered.
 * The whole text as the key would be hashed, which takes ten times as long as comparing it.
 */
function sampleOf(source: string): string {
  const { length } = source
  if (length <= SAMPLES * SAMPLE_LENGTH) return source
  let sample = `${length} `
  const last = length - SAMPLE_LENGTH
  for (let at = 0; at < SAMPLES; at += 1) {
    const from = Math.floor((last * at) / (SAMPLES - 1))
    sample += source.slice(from, from + SAMPLE_LENGTH)
  }
  return sample
}

function hasMarker(source: string): boolean {
  return source.includes('{{') || source.includes('{%')
}

/** The message of a fault without the text of the template: `undefined filter: upper`. */
function kindOf(message: string): string {
  const open = NOT_CLOSED.exec(message)?.groups
  if (open !== undefined) {
    const { output, tag } = open
    return `${output ?? (tag === undefined ? 'a tag is' : `tag "${tag}"`)} not closed`
  }
  for (const kind of QUOTABLE_FAULTS) {
    const [found] = kind.exec(message) ?? []
    if (found !== undefined) return found
  }
  return HAS_FAULT
}
