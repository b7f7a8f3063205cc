/** The B-trees that a statement opens for writing, those of its triggers included: its `OpenWrite` (EXPLAIN). */
import type { Connection } from '../../src/store/connection.ts'

type Opcode = { opcode: string; p2: number; p3: number }

export function openedTrees(
  connection: Connection,
  { text, params }: { text: string; params: readonly unknown[] },
): string[] {
  const names = new Map(
    connection.run('select rootpage, name from sqlite_schema', [], 'rows') as [number, string][],
  )
  const program = connection.run(`EXPLAIN ${text}`, params, 'records') as Opcode[]
  const opened = program.filter(({ opcode, p3 }) => opcode === 'OpenWrite' && p3 === 0)
  return opened.map(({ p2 }) => names.get(p2) ?? `page ${p2}`).sort()
}

/** Of statements that have a name in common: each tree as often as the one that opens it most often. */
export function uniteTrees(some: readonly string[], others: readonly string[]): string[] {
  const left = [...some]
  const more = others.filter((name) => {
    const at = left.indexOf(name)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
  return [...some, ...more].sort()
}
