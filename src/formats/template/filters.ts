/**
 * The library's filters, each with bounded cost and with the taint of its operands:
 *
 * - filters that cut and join text (`append`, `replace`, `upcase` …) work on the protected form, so
 *   that every character keeps its own taint;
 * - `escape` and similar filters return text that is safe to print;
 * - `raw` removes the taint;
 * - text that a filter encodes for a URL keeps this encoding in the URL, and counts as a value for
 *   the filters after it;
 * - `default` and `??` return one of their values with its taint;
 * - a formatted date is untainted, unless the format is tainted or the value is not a date;
 * - the result of any other filter is tainted as a whole if any of its operands is.
 */
import { filters as libraryFilters, toValue, toValueSync } from 'liquidjs'
import { escapeHtml, protectUnencoded } from './characters.ts'
import { TemplateContext } from './context.ts'
import {
  applyPlain,
  type FilterCall,
  type FilterFunction,
  hasTaint,
  type Operands,
  plainOperand,
} from './filter-call.ts'
import { FULL_LIMITS, MAX_DATE_LENGTH, type RenderLimits } from './limits.ts'
import { FALLBACK_FILTER, isLacking } from './output-grammar.ts'
import { textOf } from './print.ts'
import { checkDepth, checkSearch, measureList } from './step-limits.ts'
import { taint, taintProtected, toPlain } from './tainted.ts'
import { applyTextFilter, isSearch, isTextFilter } from './text-filters.ts'

const ESCAPING_FILTERS = new Set(['escape', 'xml_escape', 'escape_once'])
/** Filters whose results are not encoded again in a URL. */
const URL_ENCODING_FILTERS = new Set(['url_encode', 'cgi_escape', 'uri_escape'])
const DATE_FILTERS = new Set(Object.keys(libraryFilters).filter((name) => name.startsWith('date')))
const JSON_FILTERS = new Set(['json', 'jsonify', 'inspect'])

/**
 * Units that each item of a list, or each character of a text, costs in filters that the library
 * counts too low.
 */
const UNITS_PER_ITEM: Record<string, number> = {
  ...{ where: 30, reject: 30, find: 30, find_index: 30, has: 30, group_by: 30 },
  ...{ where_exp: 60, reject_exp: 60, find_exp: 60, find_index_exp: 60, has_exp: 60 },
  ...{ group_by_exp: 60, map: 6, sum: 6, sort: 20, sort_natural: 40, uniq: 5, sample: 5 },
  ...{ url_decode: 3, url_encode: 3, cgi_escape: 3, uri_escape: 3, slugify: 5 },
  ...{ escape: 2, xml_escape: 2, escape_once: 3 },
}

/** Returns every filter of the library, and the filter into which `??` is rewritten. */
export function templateFilters(): Record<string, FilterFunction> {
  const entries = Object.entries(libraryFilters).map(([name, options]) => {
    const handler = typeof options === 'function' ? options : options.handler
    return [name, toFilter(name, handler)] as const
  })
  return { ...Object.fromEntries(entries), raw: toPlain, [FALLBACK_FILTER]: chooseFallback }
}

function toFilter(name: string, handler: FilterFunction): FilterFunction {
  const apply = filterKind(name)
  return function (this: FilterCall['call'], ...operands: unknown[]): unknown {
    const { context } = this
    const filterCall: FilterCall = {
      format: context instanceof TemplateContext ? context.rendering.format : 'html',
      name,
      call: this,
      run: ([value, ...rest]: Operands) => toValueSync(handler.call(this, value, ...rest)),
      operands,
      plain: operands.map(plainOperand),
      isTainted: operands.some(hasTaint),
    }
    checkCost(filterCall)
    const result = apply(filterCall)
    measureList(toPlain(result), limitsOf(this).units)
    return result
  }
}

function filterKind(name: string): (filterCall: FilterCall) => unknown {
  if (isTextFilter(name)) return applyTextFilter
  if (ESCAPING_FILTERS.has(name)) return applyEscape
  if (URL_ENCODING_FILTERS.has(name)) return applyUrlEncoding
  if (DATE_FILTERS.has(name)) return applyDate
  if (JSON_FILTERS.has(name)) return applyJson
  if (name.endsWith('_exp')) return applyExpression
  if (name === 'default') return applyDefault
  return name === 'sample' ? applySample : applyPlain
}

function applyEscape({ name, run, plain, isTainted, format }: FilterCall): unknown {
  const result = name === 'escape_once' ? run(plain) : escapeHtml(textOf(plain[0]))
  if (!isTainted) return result
  return format === 'url' ? taint(result) : taintProtected(result)
}

/**
 * Encodes a tainted text for a URL. `%`, `+` and the letters in the result have no stand-ins, so
 * they stay until a later filter changes them or reads the text anew.
 */
function applyUrlEncoding(filterCall: FilterCall): unknown {
  const { name, run, plain, isTainted, format } = filterCall
  if (format !== 'url' || !isTainted) return applyPlain(filterCall)
  const encoded = textOf(run(plain))
  return taintProtected(name === 'uri_escape' ? protectUnencoded(encoded) : encoded)
}

function applyDefault({ run, operands, plain }: FilterCall): unknown {
  const [value, fallback] = operands
  const chosen = {}
  return run([plain[0], chosen, ...plain.slice(2)]) === chosen ? fallback : value
}

function chooseFallback(value: unknown, fallback: unknown): unknown {
  return isLacking(toValue(value)) ? fallback : value
}

function applyDate({ call, run, operands, plain }: FilterCall): unknown {
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
  return operands.slice(1).some(hasTaint) ? taint(result) : result
}

/** Serves `inspect`, too: it differs from `json` only for circular values, which do not occur. */
function applyJson({ call, plain, isTainted }: FilterCall): unknown {
  const [value, space] = plain
  checkDepth(value)
  const { memoryLimit } = call.context
  const charge = (_key: string, part: unknown): unknown => {
    memoryLimit.use(typeof part === 'string' ? part.length + 1 : 2)
    return part
  }
  const text = JSON.stringify(value, charge, Number(space) || 0)
  return isTainted ? taint(text) : text
}

/** Evaluates the filter's expression on plain values. A tainted expression is not evaluated. */
function applyExpression({ name, call, operands, plain }: FilterCall): unknown {
  const { context } = call
  const handler = libraryFilters[name]
  const isForeign = operands.slice(1).some(hasTaint)
  if (isForeign || typeof handler !== 'function' || !(context instanceof TemplateContext)) {
    return operands[0]
  }
  const plainCall = { ...call, context: context.plainContext() }
  const [value, ...rest] = plain
  const result = toValueSync(handler.call(plainCall, value, ...rest))
  return hasTaint(operands[0]) || name === 'group_by_exp' ? taint(result) : result
}

/**
 * Draws from the random sequence of the rendering, so that every rendering gives the same sample.
 */
function applySample({ call, plain, isTainted }: FilterCall): unknown {
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
  return isTainted ? taint(result) : result
}

function checkCost({ name, call, plain }: FilterCall): void {
  const [value, argument] = plain
  const { units, search } = limitsOf(call)
  for (const operand of plain) measureList(operand, units)
  if (isSearch(name)) checkSearch(value, argument, search)
  const count = typeof value === 'string' || Array.isArray(value) ? value.length : 1
  const { context } = call
  if (context instanceof TemplateContext) context.checkStep((UNITS_PER_ITEM[name] ?? 1) * count)
}

function limitsOf({ context }: FilterCall['call']): RenderLimits {
  return context instanceof TemplateContext ? context.rendering.limits : FULL_LIMITS
}
