/**
 * One call of a filter: its operands as given, and functions for their plain and protected forms.
 */
import type { filters } from 'liquidjs'
import { protectSpecials, protectUrlSpecials } from './characters.ts'
import type { TextFormat } from './print.ts'
import { isTainted, TaintedValue, taint, toPlain } from './tainted.ts'

type LibraryOptions = (typeof filters)[string]
export type FilterFunction = Extract<LibraryOptions, (...operands: never[]) => unknown>

/** The value that is filtered, and the arguments. */
export type Operands = readonly unknown[]

export type FilterCall = {
  name: string
  call: ThisParameterType<FilterFunction>
  /** Runs the library's own filter. */
  run: (operands: Operands) => unknown
  /** The operands as given, tainted or not. */
  operands: Operands
  plain: Operands
  isTainted: boolean
  format: TextFormat
}

/** Runs the filter on plain values. If any operand was tainted, the whole result is tainted. */
export function applyPlain(call: FilterCall): unknown {
  const result = call.run(call.plain)
  return call.isTainted ? taint(result) : result
}

/** Whether an operand is tainted. A keyword argument arrives as a pair of name and value. */
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
