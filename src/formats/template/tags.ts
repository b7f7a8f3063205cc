/**
 * Tags that differ from the library's. Tags that read files are forbidden. `capture` keeps taint
 * and limits; the library's versions of the other tags lose taint, or take time that grows with the
 * square of the text.
 */
import {
  CaptureTag,
  CaseTag,
  type Context,
  type Emitter,
  Expression,
  evalToken,
  ForTag,
  type Liquid,
  type Parser,
  TablerowTag,
  Tag,
  type TagToken,
  Tokenizer,
  type TopLevelToken,
  toValue,
  Value,
  type ValueToken,
} from 'liquidjs'
import { BoundedEmitter, TemplateContext } from './context.ts'
import { textOf } from './print.ts'
import { taintProtected, toPlain } from './tainted.ts'
import { parseTokens } from './token-queue.ts'

type TagClass = Exclude<Parameters<Liquid['registerTag']>[1], { render: unknown }>
type Steps<Result = void> = Generator<unknown, Result, unknown>
type Collection = ForTag['collection']

/** The filter that gives a loop its items; the items of a tainted collection are tainted. */
export const ITEMS_FILTER = '_items'

const FORBIDDEN_TAGS = ['include', 'render', 'layout', 'block']

/** Returns the tags that replace the library's, by name. */
export function templateTags(): Record<string, TagClass> {
  return {
    ...Object.fromEntries(FORBIDDEN_TAGS.map((name) => [name, forbiddenTag(name)])),
    '#': InlineComment,
    capture: Capture,
    case: Case,
    cycle: Cycle,
    echo: Echo,
    for: For,
    liquid: LiquidLines,
    tablerow: Tablerow,
  }
}

function forbiddenTag(name: string): TagClass {
  return class extends Tag {
    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
      super(token, rest, liquid)
      throw new Error(`the tag "${name}" is not available`)
    }

    render(): string {
      return ''
    }
  }
}

class Capture extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const rendering = asTemplateContext(context)
    const before = rendering.taintedPrints
    const emitter = new BoundedEmitter(rendering)
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    const isTainted = rendering.taintedPrints > before && rendering.rendering.format !== 'text'
    context.bottom()[this.variable] = isTainted ? taintProtected(emitter.buffer) : emitter.buffer
  }
}

class For extends ForTag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, rest, liquid, parser)
    this.collection = withItems(this.collection)
  }
}

class Tablerow extends TablerowTag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, rest, liquid, parser)
    this.collection = withItems(this.collection)
  }
}

/** The library's `case`, but with the guarded comparison (`guardedOperators`). */
class Case extends CaseTag {
  override *render(context: Context, emitter: Emitter): Steps {
    const target = toValue(yield this.value.value(context, false))
    const equals = context.opts.operators['=='] as (...operands: unknown[]) => unknown
    let isHit = false
    for (const { values, templates } of this.branches) {
      for (const token of values) {
        if (!(yield equals(target, yield evalToken(token, context), context))) continue
        yield this.liquid.renderer.renderTemplates(templates, context, emitter)
        isHit = true
        break
      }
    }
    if (!isHit) yield this.liquid.renderer.renderTemplates(this.elseTemplates, context, emitter)
  }
}

class Echo extends Tag {
  readonly #value: Value | undefined

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    this.tokenizer.skipBlank()
    if (!this.tokenizer.end()) this.#value = new Value(this.tokenizer.readFilteredValue(), liquid)
  }

  *render(context: Context, emitter: Emitter): Steps {
    if (this.#value === undefined) return
    emitter.write(asTemplateContext(context).print(yield this.#value.value(context, false)))
  }
}

class Cycle extends Tag {
  readonly #key: string
  readonly #group: ValueToken | undefined
  readonly #candidates: Value[] = []

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    this.#group = this.#readGroup()
    const begin = this.tokenizer.p
    while (!this.tokenizer.end()) {
      this.#candidates.push(new Value(this.tokenizer.readFilteredValue(), liquid))
      this.tokenizer.readTo(',')
    }
    this.tokenizer.assert(this.#candidates.length > 0, 'cycle has nothing to print')
    this.#key = this.tokenizer.input.slice(begin, this.tokenizer.N).replace(/\s+/g, '')
  }

  *render(context: Context, emitter: Emitter): Steps {
    const group = textOf(toPlain(yield evalToken(this.#group, context)))
    const positions = context.getRegister<Map<string, number>>('cycle', new Map())
    const key = `${group}:${this.#key}`
    const position = positions.get(key) ?? 0
    positions.set(key, (position + 1) % this.#candidates.length)
    const value = yield this.#candidates[position]?.value(context, false)
    emitter.write(asTemplateContext(context).print(value))
  }

  #readGroup(): ValueToken | undefined {
    const begin = this.tokenizer.p
    const group = this.tokenizer.readValue()
    this.tokenizer.skipBlank()
    if (group !== undefined && this.tokenizer.peek() === ':') {
      this.tokenizer.advance()
      return group as ValueToken
    }
    this.tokenizer.p = begin
    return undefined
  }
}

class LiquidLines extends Tag {
  readonly #templates: ReturnType<typeof parseTokens>

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, rest, liquid)
    this.#templates = parseTokens(parser, this.tokenizer.readLiquidTagTokens(liquid.options))
  }

  *render(context: Context, emitter: Emitter): Steps {
    yield this.liquid.renderer.renderTemplates(this.#templates, context, emitter)
  }
}

class InlineComment extends Tag {
  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid)
    const lines = token.args.split('\n').slice(1)
    const isComment = (line: string) => line.trim() === '' || line.trim().startsWith('#')
    if (!lines.every(isComment)) throw new Error('every line of a comment must begin with "#"')
  }

  render(): string {
    return ''
  }
}

function asTemplateContext(context: Context): TemplateContext {
  if (context instanceof TemplateContext) return context
  throw new TypeError('templates are rendered in a TemplateContext')
}

/** Applies `ITEMS_FILTER` to a collection; the source text of the collection stays the same. */
function withItems(collection: Collection): Collection {
  const token = new Tokenizer(`_ | ${ITEMS_FILTER}`).readFilteredValue()
  token.initial = new Expression([collection])
  token.input = collection.input
  token.begin = collection.begin
  token.end = collection.end
  return token
}
