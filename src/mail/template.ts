/**
 * The template language of subjects and bodies: Liquid, with `{{ x ?? text }}`, keys with spaces
 * and lists as `<li>` items, in a sandbox.
 *
 * A template can never fail a send. What cannot be parsed, or must be stopped (1 s, 10,000,000
 * units of memory, 10,000,000 characters), is rendered by plain placeholder substitution instead,
 * and what is still too long is cut. Where templates are saved, `checkTemplate` finds the fault.
 *
 * In HTML, values that a stranger may have written (`stored`, `system`) are escaped, values of the
 * same request are not; the filters `raw` and `escape` choose otherwise. Values are never parsed.
 */
import { now } from '../clock.ts'
import {
  parseStrictly,
  parseTemplate,
  runTemplate,
  TemplateSyntaxError,
} from './template/engine.ts'
import type { Target } from './template/print.ts'
import { type Piece, splitPieces, splitPlainPieces, substitute } from './template/substitute.ts'
import type { Variables } from './template/variables.ts'

export type { Variables } from './template/variables.ts'

/** Made by `compileTemplate`, rendered any number of times. */
export type CompiledTemplate = {
  readonly source: string
  readonly target: Target
  /** Absent where placeholders are all there is to fill in, or all that can be. */
  readonly program: ReturnType<typeof parseTemplate> | undefined
  readonly pieces: readonly Piece[] | undefined
}

/** `isPlain`: only placeholders are filled in, as for a template that had to be stopped before. */
export type CompileOptions = { isPlain?: boolean }

/** Where in the source the fault is; lines and columns count from 1. */
export type TemplateFault = { message: string; line: number; column: number }

/** Characters of a subject. */
const subjectLimit = 998

/** Never throws. The caller keeps the result, by content: parsing costs more than rendering. */
export function compileTemplate(
  source: string,
  target: Target,
  options: CompileOptions = {},
): CompiledTemplate {
  const plain = options.isPlain === true ? splitPieces(source) : splitPlainPieces(source)
  if (plain !== undefined) return { source, target, program: undefined, pieces: plain }
  try {
    return { source, target, program: parseTemplate(source), pieces: undefined }
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error
    return { source, target, program: undefined, pieces: splitPieces(source) }
  }
}

/** Never throws. `at`, epoch ms, is what the date `now` means: the same values and the same `at`
 * give the same text. */
export function renderTemplate(
  template: CompiledTemplate,
  variables: Variables,
  at: number = now(),
): string {
  const { target, program, source } = template
  if (program === undefined) return substitute(template.pieces ?? [], target, variables)
  const rendering = { target, at, seed: seedOf(at, variables) }
  try {
    return runTemplate(program, variables, rendering)
  } catch {
    // Whatever went wrong in a template, the message goes out.
    return substitute(splitPieces(source), target, variables)
  }
}

/** As `renderTemplate`, for one line of at most 998 characters: controls become spaces. */
export function renderSubject(
  template: CompiledTemplate,
  variables: Variables,
  at: number = now(),
): string {
  const text = renderTemplate(template, variables, at)
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return line.length > subjectLimit ? line.slice(0, subjectLimit).toWellFormed().trim() : line
}

/** The first fault of a template as it is saved: its syntax, unknown filters, forbidden tags. */
export function checkTemplate(source: string): TemplateFault | undefined {
  try {
    parseStrictly(source)
    return undefined
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error
    return { message: error.message, ...positionOf(source, error.offset) }
  }
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
