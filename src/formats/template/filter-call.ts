/** One call of a filter, with its operands as given, in plain form and in protected form. */
import type { filters } from 'liquidjs'
import { protectSpecials, protectUrlSpecials } from './characters.ts'
import type { TextFormat } from './print.ts'
import { isTainted, TaintedValue, taint, toPlain } from './tainted.ts'

type LibraryOptions = (typeof filters)[string]
export type FilterFunction = Extract<LibraryOptions, (...operands: never[]) => unknown>

/** The value and the arguments. */
export type Operands = readonly unknown[]

export type FilterCall = {
  name: string
  call: ThisParameterType<FilterFunction>
  /** The library's own filter. */
  run: (operands: Operands) => unknown
  /** As given, tainted or not. */
  operands: Operands
  plain: Operands
  isTainted: boolean
  format: TextFormat
}

/** Runs the filter on plain values and taints the whole result if any operand was tainted. */
export function applyPlain(call: FilterCall): unknown {
  const result = call.run(call.plain)
  return call.isTainted ? taint(result) : result
}

/** Keyword arguments arrive as pairs of name and value. */
export function hasTaint(operand: unknown): boolean {
  if (isTainted(operand)) return true
  return Array.isArray(operand) && operand.length === 2 && isTainted(operand[1])
}

export function plainOperand(operand: unknown): unknown {
  if (isTainted(operand)) return operand.plain
  return Array.isArray(operand) && hasTaint(operand) ? operand.map(toPlain) : operand
}

export function protectedOperand(operand: unknown, format: TextFormat): unknown {
  if (!(operand instanceof TaintedValue)) return plainOperand(operand)
  if (!Array.isArray(operand.value)) return operand.protectedFor(format)
  const protect = format === 'url' ? protectUrlSpecials : protectSpecials
  return operand.value.map((item) => (typeof item === 'string' ? protect(item) : item))
}
