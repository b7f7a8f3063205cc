/**
 * The template language of subjects and bodies: Liquid, with `{{ x ?? text }}`, keys with spaces
 * and lists as `<li>` items, in a sandbox.
 *
 * A template can never fail a send. What cannot be parsed, or must be stopped (1 s, 10,000,000
 * units of memory, 10,000,000 characters), is rendered by plain placeholder substitution instead,
 * within the same bounds: 20,000 placeholders are filled in, and what becomes too long is cut. The
 * fault is told with the text. Where templates are saved, `checkTemplate` finds it.
 *
 * In HTML, values that a stranger may have written (`stored`, `system`) are escaped, values of the
 * same request are not; the filters `raw` and `escape` choose otherwise. Values are never parsed.
 */
import { now } from '../../clock.ts'
import { QuickLimitError } from '../compose/quick-limit-error.ts'
import { MAX_SUBJECT_LENGTH } from '../limits.ts'
import {
  type Program,
  parseLeniently,
  parseTemplate,
  runTemplate,
  TemplateRunError,
  TemplateSyntaxError,
} from './engine.ts'
import { FULL_LIMITS, MAX_MARKERS, MAX_OUTPUT_LENGTH, type RenderLimits } from './limits.ts'
import type { TextFormat } from './print.ts'
import { type Piece, splitPieces, splitPlainPieces, substitute } from './substitute.ts'
import type { Variables } from './variables.ts'

/** Made by `compileTemplate`, rendered any number of times. */
export type CompiledTemplate = {
  readonly source: string
  readonly target: TextFormat
  /** Absent where placeholders are all there is to fill in, or all that can be. */
  readonly program: Program | undefined
  readonly pieces: readonly Piece[] | undefined
  /** Of the source itself: every rendering has it. */
  readonly fault: TemplateFault | undefined
}

/** `isPlain`: only placeholders are filled in, as for a template that had to be stopped before. */
export type CompileOptions = { isPlain?: boolean }

/** Where in the source the fault is; lines and columns count from 1, null where it is unknown. */
export type TemplateFault = { message: string; line: number | null; column: number | null }

/** `at`, epoch ms, is what the date `now` means; `limits` are the full ones if left out. */
export type RenderOptions = { at?: number; limits?: RenderLimits }

/** `fault`: why the text is not what the template's author had in mind. */
export type Rendered = { text: string; fault: TemplateFault | undefined }

/** As the library says it. */
const LIBRARY_TIME_LIMIT = 'template render limit exceeded'

/** What a fault says of a rendering that used up its time. */
export const TIME_LIMIT_FAULT = 'rendering took longer than a second'

const STOPPED: TemplateFault = { message: TIME_LIMIT_FAULT, line: null, column: null }

/** Never throws. The caller keeps the result, by content: parsing costs more than rendering. */
export function compileTemplate(
  source: string,
  target: TextFormat,
  options: CompileOptions = {},
): CompiledTemplate {
  const plain = splitPlainPieces(source)
  if (plain !== undefined) {
    const fault = hasOpenMarker(plain) ? checkTemplate(source) : undefined
    return { source, target, program: undefined, pieces: plain, fault }
  }
  if (options.isPlain === true) return substituting(source, target, STOPPED)
  try {
    return { source, target, program: parseTemplate(source), pieces: undefined, fault: undefined }
  } catch (error) {
    const fault = faultOf(error, source)
    const program = tryLeniently(source)
    if (program !== undefined) return { source, target, program, pieces: undefined, fault }
    return substituting(source, target, fault)
  }
}

/**
 * The same values and the same `at` give the same text.
 * @throws QuickLimitError where `limits` are the quick ones and do not suffice; nothing else
 */
export function renderTemplate(
  template: CompiledTemplate,
  variables: Variables,
  { at = now(), limits = FULL_LIMITS }: RenderOptions = {},
): Rendered {
  const { target, program, source, fault } = template
  if (program === undefined) {
    return { text: fillIn(template.pieces ?? [], { target, variables, source, limits }), fault }
  }
  const rendering = { target, at, seed: seedOf(at, variables), limits }
  try {
    return { text: runTemplate(program, variables, rendering), fault }
  } catch (error) {
    // Whatever went wrong in a template, the message goes out.
    if (limits.isQuick && error instanceof TemplateRunError && error.isLimit)
      throw new QuickLimitError()
    const text = fillIn(splitPieces(source), { target, variables, source, limits })
    return { text, fault: fault ?? faultOf(error, source) }
  }
}

/** As `renderTemplate`, for one line of at most 998 characters: controls become spaces. */
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
 * How many markers begin in a source, closed or not; counting ends one beyond the limit. A source
 * without any is no template: it may be as long as a message.
 */
export function countMarkers(source: string): number {
  const opening = /\{[{%]/g
  let count = 0
  while (count <= MAX_MARKERS && opening.test(source)) count += 1
  return count
}

/** The first fault of a template as it is saved: its syntax, unknown filters, forbidden tags. */
export function checkTemplate(source: string): TemplateFault | undefined {
  try {
    parseTemplate(source)
    return undefined
  } catch (error) {
    return faultOf(error, source)
  }
}

function substituting(
  source: string,
  target: TextFormat,
  fault: TemplateFault | undefined,
): CompiledTemplate {
  return { source, target, program: undefined, pieces: splitPieces(source), fault }
}

/** A `{{` or `{%` that stands in the text, since nothing closes it. */
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

type Filling = { target: TextFormat; variables: Variables; source: string; limits: RenderLimits }

function fillIn(pieces: readonly Piece[], { source, limits, ...filling }: Filling): string {
  if (!limits.isQuick)
    return substitute(pieces, filling, Math.max(MAX_OUTPUT_LENGTH, source.length))
  const limit = Math.max(limits.output, source.length)
  const text = substitute(pieces, filling, limit + 1)
  if (text.length > limit) throw new QuickLimitError()
  return text
}

/** Of what was thrown by reading or by rendering; anything else is thrown on. */
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
