/** Finds sweeps that are made by hand, as a check over source texts: `work/sweep.ts` is for them. */
import { parse } from '@babel/parser'
import type { Sources } from '../architecture-rules.ts'

type SyntaxNode = { type: string; [key: string]: unknown }

const LOOP = /^(?:For\w*|While|DoWhile)Statement$/
const PACE = /from '[./]*\/work\/pace\.ts'/

/** Files that pace their work themselves, and files with a loop that writes, each as one line, sorted. */
export function findHandMade(sources: Sources): string[] {
  const lines: string[] = []
  for (const [file, text] of sources) {
    if (file.startsWith('work/')) continue
    if (PACE.test(text)) lines.push(`${file} has a pace of its own`)
    if (file.startsWith('store/') || !text.includes('store.write(')) continue
    if (writesInLoop(parse(text, { sourceType: 'module', plugins: ['typescript'] }).program)) {
      lines.push(`${file} writes in a loop`)
    }
  }
  return lines.sort()
}

/** A function that a loop calls is not looked into. */
function writesInLoop(program: unknown): boolean {
  const visit = (value: unknown, isInLoop: boolean): boolean => {
    if (typeof value !== 'object' || value === null) return false
    if (Array.isArray(value)) return value.some((one) => visit(one, isInLoop))
    const node = value as SyntaxNode
    if (isInLoop && isWrite(node)) return true
    const isLoop = isInLoop || LOOP.test(node.type)
    return Object.entries(node).some(([key, child]) => key !== 'loc' && visit(child, isLoop))
  }
  return visit(program, false)
}

/** `store.write(…)` and `deps.store.write(…)`. */
function isWrite({ type, callee }: SyntaxNode): boolean {
  if (type !== 'CallExpression') return false
  const { type: kind, object, property } = callee as Record<string, SyntaxNode>
  if (String(kind) !== 'MemberExpression' || property?.name !== 'write') return false
  const store = object?.type === 'MemberExpression' ? (object.property as SyntaxNode) : object
  return store?.name === 'store'
}
