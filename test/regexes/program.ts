/**
 * Compiles the tree of a regular expression into a program for a backtracking matcher, as V8's
 * interpreter has them: the program tries what the regular expression tries, in the same order.
 */
import { parseRegex, type RegexNode } from './parse-regex.ts'

export const OP = {
  MATCH: 0,
  /** a: set. Takes the character ahead. */
  SET: 1,
  /** a: set. Takes the character behind. */
  SET_BEHIND: 2,
  /** Goes to a; on failure to b. */
  SPLIT: 3,
  /** Goes to a. */
  JUMP: 4,
  /** Writes the offset into register a. */
  SAVE: 5,
  /** a: index in PLACES. */
  PLACE: 6,
  /** The program up to the next MATCH runs at this offset; a: where this goes on; b: 1 if negated. */
  LOOK: 7,
  /** a: capture; b: 1 if behind. */
  REFERENCE: 8,
  /** Writes b into register a. */
  SET_REGISTER: 9,
  /** Counter of a loop in register a; b: index in `loops`. */
  COUNT: 10,
  /** What COUNT goes back to when its loop is lazy and has to take one more. */
  COUNT_MORE: 11,
  /** Fails if the offset is the one in register a: an iteration was empty. */
  PROGRESS: 12,
} as const

export const PLACES = ['start', 'end', 'word edge', 'no word edge'] as const

/** `body`, `exit`: addresses. */
export type Loop = { min: number; max: number; isLazy: boolean; body: number; exit: number }

export type Program = {
  regex: RegExp
  root: RegexNode
  /** Three numbers for an instruction: operation, a, b. */
  code: number[]
  /** The sets, as sources of regular expressions. */
  sets: string[]
  loops: Loop[]
  registers: number
  isUnicode: boolean
  isMultiline: boolean
  /** A match begins at the start of the text or nowhere. */
  isAnchored: boolean
  /** The sets that a match can begin with; undefined if not known. */
  first: string[] | undefined
}

type Compiler = Pick<Program, 'code' | 'sets' | 'loops' | 'registers'>

export function compileRegex(regex: RegExp): Program {
  const { root, captures } = parseRegex(regex)
  const compiler: Compiler = { code: [], sets: [], loops: [], registers: 2 * (captures + 1) }
  compile(compiler, root, false)
  emit(compiler, OP.MATCH)
  const isUnicode = regex.unicode || regex.unicodeSets
  const isMultiline = regex.multiline
  const isAnchored = !isMultiline && isAnchoredNode(root)
  const first = firstSets(root)
  return { ...compiler, regex, root, isUnicode, isMultiline, isAnchored, first }
}

/** Returns the address of the instruction. */
function emit({ code }: Compiler, operation: number, a = 0, b = 0): number {
  return code.push(operation, a, b) - 3
}

function compile(compiler: Compiler, node: RegexNode, isBehind: boolean): void {
  switch (node.kind) {
    case 'set':
      emit(compiler, isBehind ? OP.SET_BEHIND : OP.SET, setIndex(compiler, node.source))
      return
    case 'sequence':
      for (const part of isBehind ? node.parts.toReversed() : node.parts) {
        compile(compiler, part, isBehind)
      }
      return
    case 'choice':
      compileChoice(compiler, node.options, isBehind)
      return
    case 'repeat':
      compileRepeat(compiler, node, isBehind)
      return
    case 'capture':
      emit(compiler, OP.SAVE, 2 * node.index + (isBehind ? 1 : 0))
      compile(compiler, node.body, isBehind)
      emit(compiler, OP.SAVE, 2 * node.index + (isBehind ? 0 : 1))
      return
    case 'look': {
      const look = emit(compiler, OP.LOOK, 0, node.isNegated ? 1 : 0)
      compile(compiler, node.body, !node.isAhead)
      emit(compiler, OP.MATCH)
      compiler.code[look + 1] = compiler.code.length
      return
    }
    case 'place':
      emit(compiler, OP.PLACE, PLACES.indexOf(node.is))
      return
    case 'reference':
      emit(compiler, OP.REFERENCE, node.index, isBehind ? 1 : 0)
  }
}

function setIndex({ sets }: Compiler, source: string): number {
  const index = sets.indexOf(source)
  return index === -1 ? sets.push(source) - 1 : index
}

function compileChoice(compiler: Compiler, options: RegexNode[], isBehind: boolean): void {
  const { code } = compiler
  const ends: number[] = []
  for (const [i, option] of options.entries()) {
    const split = i < options.length - 1 ? emit(compiler, OP.SPLIT) : undefined
    if (split !== undefined) code[split + 1] = code.length
    compile(compiler, option, isBehind)
    if (split === undefined) break
    ends.push(emit(compiler, OP.JUMP))
    code[split + 2] = code.length
  }
  for (const end of ends) code[end + 1] = code.length
}

function compileRepeat(
  compiler: Compiler,
  node: Extract<RegexNode, { kind: 'repeat' }>,
  isBehind: boolean,
): void {
  const { code, loops } = compiler
  const { min, max, isLazy, body } = node
  const counter = max > 1 && (min > 1 || max < Number.POSITIVE_INFINITY)
  if (!counter && min === 1) compile(compiler, body, isBehind)
  if (max === 1 && min === 1) return
  const register = counter ? compiler.registers++ : 0
  if (counter) emit(compiler, OP.SET_REGISTER, register, 0)
  const loop: Loop = { min, max, isLazy, body: 0, exit: 0 }
  const head = counter
    ? emit(compiler, OP.COUNT, register, loops.push(loop) - 1)
    : emit(compiler, OP.SPLIT)
  if (counter) emit(compiler, OP.COUNT_MORE, register, loops.length - 1)
  loop.body = code.length
  // An iteration that is owed may be empty.
  const isGuarded = max > 1 && min < 2 && canBeEmpty(body)
  const startedAt = isGuarded ? compiler.registers++ : 0
  if (isGuarded) emit(compiler, OP.SAVE, startedAt)
  clearCaptures(compiler, body)
  compile(compiler, body, isBehind)
  if (isGuarded) emit(compiler, OP.PROGRESS, startedAt)
  if (max > 1) emit(compiler, OP.JUMP, head)
  loop.exit = code.length
  if (counter) return
  code[head + 1] = isLazy ? loop.exit : loop.body
  code[head + 2] = isLazy ? loop.body : loop.exit
}

/** An iteration begins without the captures of the one before. */
function clearCaptures(compiler: Compiler, node: RegexNode): void {
  for (const inner of innerNodes(node)) clearCaptures(compiler, inner)
  if (node.kind !== 'capture') return
  emit(compiler, OP.SET_REGISTER, 2 * node.index, -1)
  emit(compiler, OP.SET_REGISTER, 2 * node.index + 1, -1)
}

export function innerNodes(node: RegexNode): RegexNode[] {
  if (node.kind === 'sequence') return node.parts
  if (node.kind === 'choice') return node.options
  return 'body' in node ? [node.body] : []
}

export function canBeEmpty(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
      return false
    case 'sequence':
      return node.parts.every(canBeEmpty)
    case 'choice':
      return node.options.some(canBeEmpty)
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.body)
    case 'capture':
      return canBeEmpty(node.body)
    default:
      return true
  }
}

/** The sets that a match can begin with; undefined if it may be empty, or looks around first. */
function firstSets(node: RegexNode): string[] | undefined {
  switch (node.kind) {
    case 'set':
      return [node.source]
    case 'sequence':
      return firstOfParts(node.parts)
    case 'choice': {
      const options = node.options.map(firstSets)
      return options.includes(undefined) ? undefined : options.flatMap((sets) => sets ?? [])
    }
    case 'capture':
      return firstSets(node.body)
    case 'repeat':
      return node.min === 0 ? undefined : firstSets(node.body)
    default:
      return undefined
  }
}

function firstOfParts(parts: RegexNode[]): string[] | undefined {
  const sets: string[] = []
  for (const part of parts) {
    if (part.kind === 'place') continue
    const isSkipped = part.kind === 'repeat' && part.min === 0
    const first = firstSets(isSkipped ? { ...part, min: 1 } : part)
    if (first === undefined) return undefined
    sets.push(...first)
    if (!isSkipped) return sets
  }
  return undefined
}

function isAnchoredNode(node: RegexNode): boolean {
  switch (node.kind) {
    case 'place':
      return node.is === 'start'
    case 'sequence':
      return node.parts.length > 0 && isAnchoredNode(node.parts[0]!)
    case 'choice':
      return node.options.every(isAnchoredNode)
    case 'capture':
      return isAnchoredNode(node.body)
    default:
      return false
  }
}
