/**
 * The library, set up as the contract asks: JavaScript's truth, own properties only, no files, no
 * tag that would read one, and bounded in time, memory and output.
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
import { BoundedEmitter, type Rendering, TemplateContext } from './context.ts'
import { templateFilters } from './filters.ts'
import { markersLimit, markupLimit, memoryLimit, renderLimitMs, templateLimit } from './limits.ts'
import { itemsOf, mark, StoredData, toPlain } from './stored.ts'
import { type RewrittenSource, rewriteSource, scanMarkers } from './syntax.ts'
import { itemsFilter, templateTags } from './tags.ts'
import { parseTokens } from './tokens.ts'
import type { Variables } from './variables.ts'
import { checkSearch, weigh } from './weight.ts'

/** `offset` is where in the source the fault is. */
export class TemplateSyntaxError extends Error {
  readonly offset: number

  constructor(message: string, offset: number, cause?: unknown) {
    super(message, { cause })
    this.offset = offset
  }
}

/** Characters of a message: it may quote the template. */
const messageLimit = 200

/** Units an item costs when two lists are compared. */
const comparisonPrice = 3

const sendingEngine = createEngine(false)
const checkingEngine = createEngine(true)

/** Templates of a source for sending: an unknown filter does nothing. Throws
 * `TemplateSyntaxError`. */
export function parseTemplate(source: string): Template[] {
  return parse(sendingEngine, source)
}

/** As `parseTemplate` where a template is saved: an unknown filter is an error. */
export function parseStrictly(source: string): Template[] {
  return parse(checkingEngine, source)
}

/** Throws on any limit and any error of the template. */
export function runTemplate(
  templates: Template[],
  variables: Variables,
  rendering: Rendering,
): string {
  const context = new TemplateContext(sendingEngine, environmentOf(variables, rendering), rendering)
  const emitter = new BoundedEmitter(context)
  toValueSync(sendingEngine.renderer.renderTemplates(templates, context, emitter))
  return emitter.buffer
}

function parse(engine: Liquid, source: string): Template[] {
  if (source.length > templateLimit) {
    throw new TemplateSyntaxError(`longer than ${templateLimit} characters`, 0)
  }
  const markers = scanMarkers(source)
  const markup = markers.reduce((sum, { begin, end }) => sum + end - begin, 0)
  if (markers.length > markersLimit || markup > markupLimit) {
    throw new TemplateSyntaxError('too many or too long placeholders and tags', 0)
  }
  const rewritten = rewriteSource(source, markers)
  try {
    const tokenizer = new Tokenizer(rewritten.text, engine.options.operators)
    return parseTokens(new Parser(engine), tokenizer.readTopLevelTokens(engine.options))
  } catch (error) {
    throw toSyntaxError(error, rewritten)
  }
}

function toSyntaxError(error: unknown, source: RewrittenSource): TemplateSyntaxError {
  if (!LiquidError.is(error)) return new TemplateSyntaxError('cannot be read', 0, error)
  const cause = error.originalError ?? error
  const isDeep = cause instanceof RangeError
  const message = isDeep ? 'tags are nested too deeply' : cause.message
  const text = message.replace(/, line:\d+, col:\d+$/, '')
  const short = text.length > messageLimit ? `${text.slice(0, messageLimit)}…` : text
  return new TemplateSyntaxError(short, source.originalOffset(error.token.begin), error)
}

function createEngine(strictFilters: boolean): Liquid {
  const engine = new Liquid({
    templates: {},
    jsTruthy: true,
    ownPropertyOnly: true,
    strictFilters,
    renderLimit: renderLimitMs,
    memoryLimit,
    locale: 'en-US',
    timezoneOffset: 0,
    operators: guardedOperators(),
    outputEscape: printOutput,
  })
  for (const [name, filter] of Object.entries(templateFilters())) {
    engine.registerFilter(name, filter)
  }
  engine.registerFilter(itemsFilter, itemsOf)
  for (const [name, tag] of Object.entries(templateTags())) engine.registerTag(name, tag)
  return engine
}

function printOutput(this: { context: Context }, value: unknown): string {
  if (this.context instanceof TemplateContext) return this.context.print(value)
  throw new TypeError('templates are rendered in a TemplateContext')
}

type Operator = (...operands: unknown[]) => ReturnType<(typeof defaultOperators)[string]>

/** The context is the last operand of each. */
function guardedOperators(): typeof defaultOperators {
  const entries = Object.entries(defaultOperators).map(([name, handler]) => {
    const operator = handler as Operator
    const guarded: Operator = (...operands) => {
      const plain = operands.map(toPlain)
      if (name === 'contains') checkSearch(plain[0], plain[1])
      checkComparison(operands.at(-1), plain[0], plain[1])
      return operator(...plain)
    }
    return [name, guarded] as const
  })
  return Object.fromEntries(entries)
}

/** Comparing lists or long texts is a step worth counting. */
function checkComparison(context: unknown, left: unknown, right: unknown): void {
  if (!(context instanceof TemplateContext)) return
  if (typeof left === 'string' && left.length < 10_000) return
  if (typeof left === 'object' || typeof right === 'object' || typeof left === 'string') {
    context.checkStep(comparisonPrice * (weigh(left) + weigh(right)))
  }
}

function environmentOf(variables: Variables, rendering: Rendering): Record<string, unknown> {
  const { stored, request, system } = variables
  const isHtml = rendering.target === 'html'
  const marked = isHtml ? mark : (value: unknown) => value
  const environment: Record<string, unknown> = Object.create(null)
  // Without it the library would print the number of variables for `size`.
  environment.size = undefined
  for (const [key, value] of Object.entries(stored)) environment[key] = marked(value)
  for (const [key, value] of Object.entries(request)) environment[key] = value
  for (const [key, value] of Object.entries(system)) environment[key] = marked(value)
  environment.data = isHtml ? new StoredData(stored, request) : { ...stored, ...request }
  return environment
}
