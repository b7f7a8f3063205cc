/** Caches the graphs of workflows by version, so that the engine reads each version once. */
import { createLru } from '../../../../base/lru.ts'
import type { RowOf } from '../../../../store/database.ts'
import { eq } from '../../../../store/drizzle.ts'
import { workflows } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { loadGraph, type WorkflowGraph } from '../graph/graph.ts'

/** The columns of a workflow that the engine needs. */
export const findGraphWorkflow = statement((db) =>
  db
    .select({
      id: workflows.id,
      projectId: workflows.projectId,
      name: workflows.name,
      isEnabled: workflows.isEnabled,
      version: workflows.version,
      cancelledThrough: workflows.cancelledThrough,
      cancelReason: workflows.cancelReason,
      triggerEvent: workflows.triggerEvent,
      triggerConfig: workflows.triggerConfig,
    })
    .from(workflows)
    .where(eq(workflows.id, parameter('id'))),
)

export type FoundWorkflow = RowOf<typeof findGraphWorkflow>

/** The most steps and transitions of all cached graphs together. */
const MAX_CACHED = 20_000

export type Graphs = { get(tx: Tx, id: string, version: number): Promise<WorkflowGraph> }

export function createGraphs(): Graphs {
  const cache = createLru<{ version: number; graph: WorkflowGraph }>(MAX_CACHED)
  return {
    async get(tx, id, version) {
      const known = cache.get(id)
      if (known?.version === version) return known.graph
      const graph = await loadGraph(tx, id)
      const size = Math.min(MAX_CACHED, 1 + graph.steps.size)
      cache.set(id, { version, graph }, { size })
      return graph
    },
  }
}
