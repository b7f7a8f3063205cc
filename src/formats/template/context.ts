/**
 * The state of one rendering: its variables, its limits, and counts of printed text. Reading a key
 * of a tainted value returns a tainted value.
 */
import { Context, type Emitter, type Liquid } from 'liquidjs'
import type { RenderLimits } from './limits.ts'
import { printValue, type TextFormat, textOf } from './print.ts'
import { isTainted, printTainted, TaintedData, TaintedValue, taint, toPlain } from './tainted.ts'
import { createThreadClock } from './thread-clock.ts'
import { CONTACT } from './variables.ts'

export type Rendering = {
  format: TextFormat
  /** The value of the date `now`, epoch ms. */
  at: number
  /** The start of the pseudo-random sequence from which the filter `sample` draws. */
  seed: number
  limits: RenderLimits
}

type Key = Parameters<Context['readProperty']>[1]
type Scope = Record<string, unknown>

/**
 * The value of `contact`, if no variable has this name. Its keys are all variables; it prints
 * nothing itself.
 */
export class ContactNames {
  readonly variables: Scope

  constructor(variables: Scope) {
    this.variables = variables
  }
}

export class TemplateContext extends Context {
  readonly rendering: Rendering
  /** Characters printed so far. */
  printed = 0
  /** Tainted values printed so far. */
  taintedPrints = 0
  #draws: number

  constructor(liquid: Liquid, environment: object, rendering: Rendering) {
    const { units: memoryLimit, ms: renderLimit, isQuick } = rendering.limits
    super(environment, liquid.options, { sync: true, memoryLimit, renderLimit }, { liquid })
    if (isQuick) this.renderLimit = createThreadClock(renderLimit)
    this.rendering = rendering
    this.#draws = rendering.seed
  }

  override *_get(path: Key[]): IterableIterator<unknown> {
    return withoutNames(yield* super._get(path))
  }

  override readProperty(object: unknown, key: Key): unknown {
    if (object instanceof ContactNames)
      return withoutNames(super.readProperty(object.variables, key))
    if (object instanceof TaintedValue) return taint(super.readProperty(scopeOf(object.plain), key))
    if (!(object instanceof TaintedData)) return super.readProperty(scopeOf(object), key)
    return object.owns(String(key))
      ? object.read(String(key))
      : super.readProperty(object.plain, key)
  }

  /** @throws RangeError if a step of that many units exceeds the limit, or if the time is over */
  checkStep(units: number): void {
    this.memoryLimit.check(units)
    this.renderLimit.check(performance.now())
  }

  /** The next number of the pseudo-random sequence, from 0 to below `count`. */
  draw(count: number): number {
    this.#draws = (Math.imul(this.#draws, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#draws / 2 ** 32) * count)
  }

  /**
   * Returns a context with the same limits and the same variables untainted, for expressions inside
   * filters.
   */
  plainContext(): TemplateContext {
    const environment = plainScope(this.getAll())
    const names = environment[CONTACT]
    if (names instanceof ContactNames) {
      environment[CONTACT] = new ContactNames(plainScope(names.variables))
    }
    const context = new TemplateContext(this.liquid, environment, this.rendering)
    context.memoryLimit = this.memoryLimit
    context.renderLimit = this.renderLimit
    return context
  }

  /** Returns the text that a placeholder prints for this value. */
  print(value: unknown): string {
    if (!isTainted(value)) return printValue(value, this.rendering.format)
    this.taintedPrints += 1
    return printTainted(value, this.rendering.format)
  }
}

/** Collects the output of a template, up to the limit of its rendering. */
export class BoundedEmitter implements Emitter {
  buffer = ''
  readonly #context: TemplateContext

  constructor(context: TemplateContext) {
    this.#context = context
  }

  write(text: unknown): void {
    const printed = textOf(text)
    this.#context.printed += printed.length
    const { output } = this.#context.rendering.limits
    if (this.#context.printed > output) throw new RangeError('output limit exceeded')
    this.buffer += printed
  }
}

function withoutNames(value: unknown): unknown {
  return value instanceof ContactNames ? undefined : value
}

function plainScope(scope: object): Scope {
  const plain: Scope = Object.create(null)
  for (const [key, value] of Object.entries(scope)) plain[key] = toPlain(value)
  return plain
}

/** Casts the value: the library accepts any value as a scope, but its types allow objects only. */
function scopeOf(value: unknown): Parameters<Context['readProperty']>[0] {
  return value as Parameters<Context['readProperty']>[0]
}
