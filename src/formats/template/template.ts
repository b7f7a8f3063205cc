/**
 * The template language of subjects and bodies: Liquid in a sandbox, with `{{ x ?? text }}`, keys
 * with spaces, and lists printed as `<li>` items. A faulty template never stops a message. If a
 * template cannot be parsed, or its rendering is stopped (after 1 s, 10,000,000 units of memory or
 * 10,000,000 characters), plain placeholder substitution takes its place, within the same bounds:
 * at most 20,000 placeholders are filled in, and a longer text is cut. The result has the fault.
 * `checkTemplate` finds syntax faults when a template is saved.
 *
 * In HTML, values from untrusted sources (`stored`, `system`) are escaped; values of the same
 * request are not. The filters `raw` and `escape` override this. Values are never parsed as
 * templates.
 */
import { now } from '../../base/clock.ts'
import { QuickLimitError } from '../compose/quick-limit-error.ts'
import { MAX_SUBJECT_LENGTH } from '../limits.ts'
import {
  type Program,
  parseLeniently,
  parseNewTemplate,
  parseTemplate,
  runTemplate,
  TemplateRunError,
  TemplateSyntaxError,
} from './engine.ts'
import { isOddKey } from './foreign-output.ts'
import { FULL_LIMITS, MAX_MARKERS, MAX_OUTPUT_LENGTH, type RenderLimits } from './limits.ts'
import type { TextFormat } from './print.ts'
import { type Piece, splitPieces, splitPlainPieces, substitute } from './substitute.ts'
import { LIBRARY_TIME_LIMIT } from './thread-clock.ts'
import type { Variables } from './variables.ts'

/** A compiled template, which can be rendered any number of times. */
export type CompiledTemplate = {
  readonly source: string
  readonly format: TextFormat
  /**
   * The parsed program. Undefined if plain substitution is enough, if the source cannot be parsed,
   * or with `isPlain`.
   */
  readonly program: Program | undefined
  readonly pieces: readonly Piece[] | undefined
  /** The fault of the source itself, which every rendering reports. */
  readonly fault: TemplateFault | undefined
}

/**
 * `isPlain`: fill in placeholders only, because an earlier full rendering was stopped. `isLiteral`:
 * the source is no template.
 */
export type CompileOptions = { isPlain?: boolean | undefined; isLiteral?: boolean | undefined }

/** A fault and its place in the source; line and column count from 1, null if unknown. */
export type TemplateFault = { message: string; line: number | null; column: number | null }

/** `at`: the value of the date `now`, epoch ms. `limits`: `FULL_LIMITS` by default. */
export type RenderOptions = { at?: number; limits?: RenderLimits }

/** `fault`: the reason why the text is not what its author meant. */
type Rendered = { text: string; fault: TemplateFault | undefined }

/** The fault's message for a rendering that exceeds its time limit. */
export const TIME_LIMIT_FAULT = 'rendering took longer than a second'
const STOPPED: TemplateFault = { message: TIME_LIMIT_FAULT, line: null, column: null }

type PlainRendering = {
  format: TextFormat
  variables: Variables
  source: string
  limits: RenderLimits
}

/**
 * Markers that are split off on a quick thread. To parse a marker takes about ten times as long as
 * to split it off.
 */
const MAX_SPLIT_MARKERS = 2_000
const MAX_PARSED_MARKERS = 200
const MAX_PARSED_LENGTH = 256 * 1024

/**
 * Compiles a template; never throws. Callers cache the result by the source, because parsing costs
 * more than rendering.
 */
export function compileTemplate(
  source: string,
  format: TextFormat,
  options: CompileOptions = {},
): CompiledTemplate {
  if (options.isLiteral === true) {
    return { source, format, program: undefined, pieces: [source], fault: undefined }
  }
  const plain = splitPlainPieces(source)
  if (plain !== undefined) {
    const fault = hasOpenMarker(plain) ? checkStoredTemplate(source) : undefined
    return { source, format, program: undefined, pieces: plain, fault }
  }
  if (options.isPlain === true) return substituting(source, format, STOPPED)
  try {
    return { source, format, program: parseTemplate(source), pieces: undefined, fault: undefined }
  } catch (error) {
    const fault = faultOf(error, source)
    const program = tryLeniently(source)
    if (program !== undefined) return { source, format, program, pieces: undefined, fault }
    return substituting(source, format, fault)
  }
}

/**
 * Renders a template. The same values and the same `at` give the same text.
 * @throws QuickLimitError if `limits` are the quick ones and do not suffice; nothing else
 */
export function renderTemplate(
  template: CompiledTemplate,
  variables: Variables,
  { at = now(), limits = FULL_LIMITS }: RenderOptions = {},
): Rendered {
  const { format, program, source, fault } = template
  if (program === undefined) {
    return {
      text: renderPlainly(template.pieces ?? [], { format, variables, source, limits }),
      fault,
    }
  }
  const rendering = { format, at, seed: seedOf(at, variables), limits }
  try {
    return { text: runTemplate(program, variables, rendering), fault }
  } catch (error) {
    // The message is sent even if its template is broken.
    if (limits.isQuick && error instanceof TemplateRunError && error.isLimit)
      throw new QuickLimitError()
    const text = renderPlainly(splitPieces(source), { format, variables, source, limits })
    return { text, fault: fault ?? faultOf(error, source) }
  }
}

/**
 * Like `renderTemplate`, but the result is one line of at most 998 characters, with control
 * characters replaced by spaces.
 */
export function renderSubject(
  template: CompiledTemplate,
  variables: Variables,
  options: RenderOptions = {},
): Rendered {
  const { text, fault } = renderTemplate(template, variables, options)
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  const isLong = line.length > MAX_SUBJECT_LENGTH
  return { text: isLong ? line.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().trim() : line, fault }
}

/**
 * Counts the markers that begin in a source, closed or not, up to one beyond the limit. A source
 * without markers is no template and may be as long as a message.
 */
export function countMarkers(source: string): number {
  const opening = /\{[{%]/g
  let count = 0
  while (count <= MAX_MARKERS && opening.test(source)) count += 1
  return count
}

/**
 * Whether the source has only placeholders that plain substitution can fill in; such a source has
 * no fault.
 */
function isPlainTemplate(source: string): boolean {
  const pieces = splitPlainPieces(source)
  return pieces !== undefined && !hasOpenMarker(pieces) && !pieces.some(isOddPiece)
}

/**
 * Returns the first fault of a template that is being saved: a syntax error, an unknown filter, a
 * forbidden tag, or a placeholder of another language.
 */
export function checkTemplate(source: string): TemplateFault | undefined {
  return faultOfParsing(parseNewTemplate, source)
}

/**
 * Like `checkTemplate`, but accepts placeholders of other languages: stored templates have them
 * from the time before they were faults.
 */
export function checkStoredTemplate(source: string): TemplateFault | undefined {
  return faultOfParsing(parseTemplate, source)
}

function faultOfParsing(
  parse: (source: string) => Program,
  source: string,
): TemplateFault | undefined {
  try {
    parse(source)
    return undefined
  } catch (error) {
    return faultOf(error, source)
  }
}

function substituting(
  source: string,
  format: TextFormat,
  fault: TemplateFault | undefined,
): CompiledTemplate {
  return { source, format, program: undefined, pieces: splitPieces(source), fault }
}

/**
 * Whether a placeholder may belong to another language. `{{#if x}}` prints nothing, and parsing
 * decides whether it is a fault.
 */
function isOddPiece(piece: Piece): boolean {
  return typeof piece !== 'string' && isOddKey(String(piece.path[0] ?? ''))
}

/** Whether the text contains an unclosed `{{` or `{%`. */
function hasOpenMarker(pieces: readonly Piece[]): boolean {
  return pieces.some((piece) => typeof piece === 'string' && /\{[{%]/.test(piece))
}

function tryLeniently(source: string): Program | undefined {
  try {
    return parseLeniently(source)
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return undefined
    throw error
  }
}

function renderPlainly(
  pieces: readonly Piece[],
  { source, limits, ...filling }: PlainRendering,
): string {
  if (!limits.isQuick)
    return substitute(pieces, filling, Math.max(MAX_OUTPUT_LENGTH, source.length))
  const limit = Math.max(limits.output, source.length)
  const text = substitute(pieces, filling, limit + 1)
  if (text.length > limit) throw new QuickLimitError()
  return text
}

/** Converts an error of parsing or rendering to a fault; rethrows any other error. */
function faultOf(error: unknown, source: string): TemplateFault {
  if (error instanceof TemplateSyntaxError) {
    return { message: error.message, ...positionOf(source, error.offset) }
  }
  if (!(error instanceof TemplateRunError)) throw error
  const { offset } = error
  const message = error.message === LIBRARY_TIME_LIMIT ? TIME_LIMIT_FAULT : error.message
  if (offset === null) return { message, line: null, column: null }
  return { message, ...positionOf(source, offset) }
}

function positionOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 }
}

function seedOf(at: number, { system }: Variables): number {
  let seed = at % 2 ** 32
  for (const char of String(system.id)) seed = (Math.imul(seed, 31) + char.charCodeAt(0)) >>> 0
  return seed
}

/**
 * Finds the first syntax fault in a text that is about to be sent, on a thread where other work
 * waits; undefined if there is none. Most texts have no markers or only plain placeholders, and are
 * never parsed. Returns `slow` if the check would take too long for this thread.
 */
export function findQuickFault(source: string): TemplateFault | 'slow' | undefined {
  const markers = countMarkers(source)
  if (markers === 0) return undefined
  if (markers > Math.min(MAX_SPLIT_MARKERS, MAX_MARKERS)) return 'slow'
  if (isPlainTemplate(source)) return undefined
  const isSlow = markers > MAX_PARSED_MARKERS || source.length > MAX_PARSED_LENGTH
  return isSlow ? 'slow' : checkTemplate(source)
}
