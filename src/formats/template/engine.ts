/**
 * The Liquid library, configured for untrusted templates: JavaScript's truthiness, own properties
 * only, no file access, and bounded time, memory and output.
 */
import {
  type Context,
  defaultOperators,
  Liquid,
  LiquidError,
  Parser,
  type Template,
  Tokenizer,
  toValueSync,
} from 'liquidjs'
import { BoundedEmitter, ContactNames, type Rendering, TemplateContext } from './context.ts'
import { templateFilters } from './filters.ts'
import { describeForeign, listForeignOutputs } from './foreign-output.ts'
import {
  FULL_LIMITS,
  MAX_MARKERS,
  MAX_MARKUP_LENGTH,
  MAX_OUTPUT_LENGTH,
  MAX_TEMPLATE_LENGTH,
} from './limits.ts'
import { type Marker, type RewrittenSource, rewriteSource, scanMarkers } from './markers.ts'
import { checkSearch, measureList } from './step-limits.ts'
import { ITEMS_FILTER, templateTags } from './tags.ts'
import { itemsOf, TaintedData, taint, toPlain } from './tainted.ts'
import { parseTokens } from './token-queue.ts'
import { CONTACT, type Variables } from './variables.ts'

/** `offset`: the position of the fault in the source. */
export class TemplateSyntaxError extends Error {
  readonly offset: number

  constructor(message: string, offset: number, cause?: unknown) {
    super(message, { cause })
    this.offset = offset
  }
}

/** `offset`: the position of the failing node in the source, null if unknown. */
export class TemplateRunError extends Error {
  readonly offset: number | null
  /** A limit of time, memory or output was exceeded. */
  readonly isLimit: boolean

  constructor(
    message: string,
    { offset, isLimit, cause }: { offset: number | null; isLimit: boolean; cause: unknown },
  ) {
    super(message, { cause })
    this.offset = offset
    this.isLimit = isLimit
  }
}

/** Characters of a fault's message, which may quote the template and is cut. */
const MAX_FAULT_LENGTH = 200

/** The library's error message for an exceeded limit -> the text that authors read. */
const LIMIT_TEXTS: Readonly<Record<string, string>> = {
  'memory alloc limit exceeded': 'it needs too much memory',
  'memory limit exceeded': 'it needs too much memory',
  'output limit exceeded': `it prints more than ${MAX_OUTPUT_LENGTH} characters`,
  'search limit exceeded': 'it searches too long a text',
  'depth limit exceeded': 'lists or objects are nested too deeply',
  'date format limit exceeded': 'a date format is too long',
}

/** Units (`limits.ts`) that each item costs when two lists are compared. */
const UNITS_PER_COMPARISON = 3

const strictEngine = createEngine(true)
const lenientEngine = createEngine(false)

/** A parsed template. */
export type Program = {
  templates: Template[]
  /**
   * Maps an offset in the rewritten source, as the library's errors have it, to an offset in the
   * original source.
   */
  originalOffset(offset: number): number
}

/** @throws TemplateSyntaxError for the first fault; an unknown filter is a fault */
export function parseTemplate(source: string): Program {
  return parse(strictEngine, source)
}

/**
 * Like `parseTemplate`, for a template that is being saved: a placeholder of another template
 * language is a fault, too.
 */
export function parseNewTemplate(source: string): Program {
  return parse(strictEngine, source, refuseForeign)
}

/**
 * Parses a template for sending although it may be faulty: an unknown filter does nothing.
 * @throws TemplateSyntaxError for any other fault
 */
export function parseLeniently(source: string): Program {
  return parse(lenientEngine, source)
}

/** @throws TemplateRunError if a limit is exceeded or the template fails */
export function runTemplate(program: Program, variables: Variables, rendering: Rendering): string {
  try {
    const environment = environmentOf(variables, rendering)
    const context = new TemplateContext(lenientEngine, environment, rendering)
    const emitter = new BoundedEmitter(context)
    toValueSync(lenientEngine.renderer.renderTemplates(program.templates, context, emitter))
    return emitter.buffer
  } catch (error) {
    throw toRunError(error, program)
  }
}

function parse(engine: Liquid, source: string, check?: typeof refuseForeign): Program {
  if (source.length > MAX_TEMPLATE_LENGTH) {
    throw new TemplateSyntaxError(`longer than ${MAX_TEMPLATE_LENGTH} characters`, 0)
  }
  const markers = scanMarkers(source, MAX_MARKERS + 1)
  const markup = markers.reduce((sum, { begin, end }) => sum + end - begin, 0)
  if (markers.length > MAX_MARKERS || markup > MAX_MARKUP_LENGTH) {
    throw new TemplateSyntaxError('too many or too long placeholders and tags', 0)
  }
  check?.(source, markers)
  const rewritten = rewriteSource(source, markers)
  try {
    const tokenizer = new Tokenizer(rewritten.text, engine.options.operators)
    const tokens = tokenizer.readTopLevelTokens(engine.options)
    const templates = parseTokens(new Parser(engine), tokens)
    return { templates, originalOffset: rewritten.originalOffset }
  } catch (error) {
    throw toSyntaxError(error, rewritten)
  }
}

function refuseForeign(source: string, markers: readonly Marker[]): void {
  const [first] = listForeignOutputs(source, markers)
  if (first !== undefined) throw new TemplateSyntaxError(describeForeign(first), first.marker.begin)
}

function toSyntaxError(error: unknown, source: RewrittenSource): TemplateSyntaxError {
  if (!LiquidError.is(error)) return new TemplateSyntaxError('cannot be read', 0, error)
  const cause = error.originalError ?? error
  const isDeep = cause instanceof RangeError
  const message = isDeep ? 'tags are nested too deeply' : cause.message
  return new TemplateSyntaxError(shorten(message), source.originalOffset(error.token.begin), error)
}

function toRunError(error: unknown, { originalOffset }: Program): TemplateRunError {
  const cause = LiquidError.is(error) ? (error.originalError ?? error) : error
  const message = cause instanceof Error ? cause.message : String(cause)
  const offset = LiquidError.is(error) ? originalOffset(error.token.begin) : null
  const isLimit = /limit exceeded$/.test(message)
  const text = LIMIT_TEXTS[message] ?? shorten(message)
  return new TemplateRunError(text, { offset, isLimit, cause: error })
}

function shorten(message: string): string {
  const text = message.replace(/, line:\d+, col:\d+$/, '')
  return text.length > MAX_FAULT_LENGTH
    ? `${text.slice(0, MAX_FAULT_LENGTH).toWellFormed()}…`
    : text
}

function createEngine(strictFilters: boolean): Liquid {
  const engine = new Liquid({
    templates: {},
    jsTruthy: true,
    ownPropertyOnly: true,
    strictFilters,
    renderLimit: FULL_LIMITS.ms,
    memoryLimit: FULL_LIMITS.units,
    locale: 'en-US',
    timezoneOffset: 0,
    operators: guardedOperators(),
    outputEscape: printOutput,
  })
  for (const [name, filter] of Object.entries(templateFilters())) {
    engine.registerFilter(name, filter)
  }
  engine.registerFilter(ITEMS_FILTER, itemsOf)
  for (const [name, tag] of Object.entries(templateTags())) engine.registerTag(name, tag)
  return engine
}

function printOutput(this: { context: Context }, value: unknown): string {
  if (this.context instanceof TemplateContext) return this.context.print(value)
  throw new TypeError('templates are rendered in a TemplateContext')
}

type Operator = (...operands: unknown[]) => ReturnType<(typeof defaultOperators)[string]>

/**
 * The library's operators on untainted operands, with limits on their cost. The library passes the
 * context as the last operand.
 */
function guardedOperators(): typeof defaultOperators {
  const entries = Object.entries(defaultOperators).map(([name, handler]) => {
    const operator = handler as Operator
    const guarded: Operator = (...operands) => {
      const plain = operands.map(toPlain)
      const context = operands.at(-1)
      if (context instanceof TemplateContext) {
        const { search } = context.rendering.limits
        if (name === 'contains') checkSearch(plain[0], plain[1], search)
        checkComparison(context, plain[0], plain[1])
      }
      return operator(...plain)
    }
    return [name, guarded] as const
  })
  return Object.fromEntries(entries)
}

/** Counts the units for a comparison of lists or long texts. */
function checkComparison(context: TemplateContext, left: unknown, right: unknown): void {
  if (typeof left === 'string' && left.length < 10_000) return
  if (typeof left === 'object' || typeof right === 'object' || typeof left === 'string') {
    const { units } = context.rendering.limits
    context.checkStep(UNITS_PER_COMPARISON * (measureList(left, units) + measureList(right, units)))
  }
}

function environmentOf(variables: Variables, rendering: Rendering): Record<string, unknown> {
  const { stored, request, system } = variables
  const { format } = rendering
  const protect = format === 'text' ? (value: unknown) => value : taint
  // The author writes the URL, so values of the request are as foreign in it as stored values.
  const protectRequest = format === 'url' ? taint : (value: unknown) => value
  const environment: Record<string, unknown> = Object.create(null)
  // Otherwise the library would print the number of variables for `{{ size }}`.
  environment.size = undefined
  for (const [key, value] of Object.entries(stored)) environment[key] = protect(value)
  for (const [key, value] of Object.entries(request)) environment[key] = protectRequest(value)
  for (const [key, value] of Object.entries(system)) environment[key] = protect(value)
  if (format === 'text') environment.data = { ...stored, ...request }
  else if (format === 'html') environment.data = new TaintedData(stored, request)
  else environment.data = new TaintedData({ ...stored, ...request }, {})
  if (!Object.hasOwn(environment, CONTACT)) environment[CONTACT] = new ContactNames(environment)
  return environment
}
