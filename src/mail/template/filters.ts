/**
 * The library's filters, each within bounds and each carrying the mark of what it was given:
 *
 * - those that move text about (`append`, `replace`, `upcase` …) work on the inked form, so that
 *   every character keeps its own mark;
 * - `escape` and its like give text that is safe to print;
 * - `raw` takes the mark away;
 * - `default` and `??` choose one of their values with the mark it has;
 * - a date is the template's format and our words, unless it could not be read as one;
 * - the result of any other filter is marked as a whole when any value given to it is.
 */
import { filters as libraryFilters, toValue, toValueSync } from 'liquidjs'
import { escapeHtml } from './characters.ts'
import { TemplateContext } from './context.ts'
import { FULL_LIMITS, MAX_DATE_LENGTH, type RenderLimits } from './limits.ts'
import { FALLBACK_FILTER, isLacking } from './output.ts'
import { textOf } from './print.ts'
import { mark, markInked, toPlain } from './stored.ts'
import { applyTextFilter, isSearch, isTextFilter } from './text-filters.ts'
import {
  applyPlain,
  carriesMark,
  type Handler,
  type Operands,
  plainOperand,
  type Use,
} from './use.ts'
import { checkDepth, checkSearch, weigh } from './weight.ts'

const ESCAPING_FILTERS = new Set(['escape', 'xml_escape', 'escape_once'])
const DATE_FILTERS = new Set(Object.keys(libraryFilters).filter((name) => name.startsWith('date')))
const JSON_FILTERS = new Set(['json', 'jsonify', 'inspect'])

/** Units an item of a list (or a character of a text) costs where the library counts less. */
const UNITS_PER_ITEM: Record<string, number> = {
  ...{ where: 30, reject: 30, find: 30, find_index: 30, has: 30, group_by: 30 },
  ...{ where_exp: 60, reject_exp: 60, find_exp: 60, find_index_exp: 60, has_exp: 60 },
  ...{ group_by_exp: 60, map: 6, sum: 6, sort: 20, sort_natural: 40, uniq: 5, sample: 5 },
  ...{ url_decode: 3, url_encode: 3, cgi_escape: 3, uri_escape: 3, slugify: 5 },
  ...{ escape: 2, xml_escape: 2, escape_once: 3 },
}

/** Every filter of the library, and the one behind `??`. */
export function templateFilters(): Record<string, Handler> {
  const entries = Object.entries(libraryFilters).map(([name, options]) => {
    const handler = typeof options === 'function' ? options : options.handler
    return [name, toFilter(name, handler)] as const
  })
  return { ...Object.fromEntries(entries), raw: toPlain, [FALLBACK_FILTER]: chooseFallback }
}

function toFilter(name: string, handler: Handler): Handler {
  const apply = filterKind(name)
  return function (this: Use['call'], ...operands: unknown[]): unknown {
    const use = {
      name,
      call: this,
      run: ([value, ...rest]: Operands) => toValueSync(handler.call(this, value, ...rest)),
      operands,
      plain: operands.map(plainOperand),
      isMarked: operands.some(carriesMark),
    }
    checkCost(use)
    const result = apply(use)
    weigh(toPlain(result), limitsOf(this).units)
    return result
  }
}

function filterKind(name: string): (use: Use) => unknown {
  if (isTextFilter(name)) return applyTextFilter
  if (ESCAPING_FILTERS.has(name)) return applyEscape
  if (DATE_FILTERS.has(name)) return applyDate
  if (JSON_FILTERS.has(name)) return applyJson
  if (name.endsWith('_exp')) return applyExpression
  if (name === 'default') return applyDefault
  return name === 'sample' ? applySample : applyPlain
}

function applyEscape({ name, run, plain, isMarked }: Use): unknown {
  const result = name === 'escape_once' ? run(plain) : escapeHtml(textOf(plain[0]))
  return isMarked ? markInked(result) : result
}

function applyDefault({ run, operands, plain }: Use): unknown {
  const [value, fallback] = operands
  const chosen = {}
  return run([plain[0], chosen, ...plain.slice(2)]) === chosen ? fallback : value
}

function chooseFallback(value: unknown, fallback: unknown): unknown {
  return isLacking(toValue(value)) ? fallback : value
}

function applyDate({ call, run, operands, plain }: Use): unknown {
  const [given, ...rest] = plain
  if (typeof given === 'string' && given.length > MAX_DATE_LENGTH) return operands[0]
  if (rest.some((argument) => textOf(argument).length > MAX_DATE_LENGTH)) {
    throw new RangeError('date format limit exceeded')
  }
  const isNow = given === 'now' || given === 'today'
  const { context } = call
  const date = isNow && context instanceof TemplateContext ? context.rendering.at / 1000 : given
  const result = run([date, ...rest])
  if (result === given) return operands[0]
  return operands.slice(1).some(carriesMark) ? mark(result) : result
}

/** `inspect` differs from `json` on circular values only, of which there are none. */
function applyJson({ call, plain, isMarked }: Use): unknown {
  const [value, space] = plain
  checkDepth(value)
  const { memoryLimit } = call.context
  const charge = (_key: string, part: unknown): unknown => {
    memoryLimit.use(typeof part === 'string' ? part.length + 1 : 2)
    return part
  }
  const text = JSON.stringify(value, charge, Number(space) || 0)
  return isMarked ? mark(text) : text
}

/** The expression of such a filter sees plain values, and is itself never a stranger's. */
function applyExpression({ name, call, operands, plain }: Use): unknown {
  const { context } = call
  const handler = libraryFilters[name]
  const isForeign = operands.slice(1).some(carriesMark)
  if (isForeign || typeof handler !== 'function' || !(context instanceof TemplateContext)) {
    return operands[0]
  }
  const plainCall = { ...call, context: context.plainContext() }
  const [value, ...rest] = plain
  const result = toValueSync(handler.call(plainCall, value, ...rest))
  return carriesMark(operands[0]) || name === 'group_by_exp' ? mark(result) : result
}

/** Drawn from a sequence of the rendering's own, so that every rendering draws the same. */
function applySample({ call, plain, isMarked }: Use): unknown {
  const [value, count = 1] = plain
  const { context } = call
  if (!(context instanceof TemplateContext) || value === undefined || value === null) return []
  const pool: unknown[] = Array.isArray(value) ? [...value] : [...textOf(value)]
  for (let index = pool.length - 1; index > 0; index -= 1) {
    const other = context.draw(index + 1)
    const item = pool[index]
    pool[index] = pool[other]
    pool[other] = item
  }
  const result = count === 1 ? pool[0] : pool.slice(0, Number(count))
  return isMarked ? mark(result) : result
}

function checkCost({ name, call, plain }: Use): void {
  const [value, argument] = plain
  const { units, search } = limitsOf(call)
  for (const operand of plain) weigh(operand, units)
  if (isSearch(name)) checkSearch(value, argument, search)
  const count = typeof value === 'string' || Array.isArray(value) ? value.length : 1
  const { context } = call
  if (context instanceof TemplateContext) context.checkStep((UNITS_PER_ITEM[name] ?? 1) * count)
}

function limitsOf({ context }: Use['call']): RenderLimits {
  return context instanceof TemplateContext ? context.rendering.limits : FULL_LIMITS
}
