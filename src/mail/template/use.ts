/** One use of a filter, and its operands without their marks or with them inked. */
import type { filters } from 'liquidjs'
import { ink } from './characters.ts'
import { isMarked, mark, Stored, toPlain } from './stored.ts'

type LibraryOptions = (typeof filters)[string]
export type Handler = Extract<LibraryOptions, (...operands: never[]) => unknown>

/** The value and the arguments. */
export type Operands = readonly unknown[]

export type Use = {
  name: string
  call: ThisParameterType<Handler>
  /** The filter as the library has it. */
  run: (operands: Operands) => unknown
  /** As given, marked or not. */
  operands: Operands
  plain: Operands
  isMarked: boolean
}

/** The filter on plain values; its result is marked as a whole. */
export function applyPlain({ run, plain, isMarked }: Use): unknown {
  const result = run(plain)
  return isMarked ? mark(result) : result
}

/** Keyword arguments come as pairs of name and value. */
export function carriesMark(operand: unknown): boolean {
  if (isMarked(operand)) return true
  return Array.isArray(operand) && operand.length === 2 && isMarked(operand[1])
}

export function plainOperand(operand: unknown): unknown {
  if (isMarked(operand)) return operand.plain
  return Array.isArray(operand) && carriesMark(operand) ? operand.map(toPlain) : operand
}

export function inkedOperand(operand: unknown): unknown {
  if (!(operand instanceof Stored)) return plainOperand(operand)
  if (!Array.isArray(operand.value)) return operand.inked
  return operand.value.map((item) => (typeof item === 'string' ? ink(item) : item))
}
