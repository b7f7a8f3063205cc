/**
 * One rendering: its variables, its limits, and what it has printed. Reading a key of a marked
 * value gives a marked value.
 */
import { Context, type Emitter, type Liquid } from 'liquidjs'
import type { RenderLimits } from './limits.ts'
import { printValue, type TextFormat, textOf } from './print.ts'
import { isMarked, mark, printMarked, Stored, StoredData, toPlain } from './stored.ts'
import { createThreadClock } from './thread-clock.ts'

export type Rendering = {
  target: TextFormat
  /** Epoch ms: what `now` means. */
  at: number
  /** Where the sequence of `sample` begins. */
  seed: number
  limits: RenderLimits
}

type Key = Parameters<Context['readProperty']>[1]

export class TemplateContext extends Context {
  readonly rendering: Rendering
  /** Characters printed so far. */
  printed = 0
  /** Marked values printed so far. */
  markedPrints = 0
  #draws: number

  constructor(liquid: Liquid, environment: object, rendering: Rendering) {
    const { units: memoryLimit, ms: renderLimit, isQuick } = rendering.limits
    super(environment, liquid.options, { sync: true, memoryLimit, renderLimit }, { liquid })
    if (isQuick) this.renderLimit = createThreadClock(renderLimit)
    this.rendering = rendering
    this.#draws = rendering.seed
  }

  override readProperty(object: unknown, key: Key): unknown {
    if (object instanceof Stored) return mark(super.readProperty(scopeOf(object.plain), key))
    if (!(object instanceof StoredData)) return super.readProperty(scopeOf(object), key)
    const isOwn =
      Object.hasOwn(object.request, String(key)) || Object.hasOwn(object.stored, String(key))
    return isOwn ? object.read(String(key)) : super.readProperty(object.plain, key)
  }

  /** Fails when a single step of that many units would be too long by itself, or comes too late. */
  checkStep(units: number): void {
    this.memoryLimit.check(units)
    this.renderLimit.check(performance.now())
  }

  /** The next number of the rendering's sequence, from 0 to below `count`. */
  draw(count: number): number {
    this.#draws = (Math.imul(this.#draws, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#draws / 2 ** 32) * count)
  }

  /** The same variables without marks, under the same limits, for expressions inside filters. */
  plainContext(): TemplateContext {
    const environment: Record<string, unknown> = Object.create(null)
    for (const [key, value] of Object.entries(this.getAll())) environment[key] = toPlain(value)
    const context = new TemplateContext(this.liquid, environment, this.rendering)
    context.memoryLimit = this.memoryLimit
    context.renderLimit = this.renderLimit
    return context
  }

  /** The text of a value where it is printed. */
  print(value: unknown): string {
    if (!isMarked(value)) return printValue(value, this.rendering.target)
    this.markedPrints += 1
    return printMarked(value, this.rendering.target)
  }
}

/** Collects what a template prints, up to the limit of its rendering. */
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

/** The library reads any value as a scope; its types know objects only. */
function scopeOf(value: unknown): Parameters<Context['readProperty']>[0] {
  return value as Parameters<Context['readProperty']>[0]
}
