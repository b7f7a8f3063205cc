/** What an area says of its tables that refer to definitions (`references/registry.ts`). */
import type { Queries } from '../../../store/write/transaction.ts'

/**
 * The object that something may refer to. A field is a key of contact data, or a column of
 * contacts.
 */
export type Referent =
  | { kind: 'template'; id: string }
  | { kind: 'segment'; id: string }
  | { kind: 'event'; name: string }
  | { kind: 'data field'; key: string }
  | { kind: 'standard field'; field: string }
  | { kind: 'sending domain'; domain: string }

export type Reference = { id: string; name: string }

/** The users of an object by their kind, oldest first. */
export type References = Record<Label, Reference[]>

/** `limit`: the most users of each kind to find; all users if absent. */
export type ReferenceQuery = { projectId: string; referent: Referent; limit?: number | undefined }

export type ReferenceSource = {
  /** The referring column as `table.column`, with the names in the database. */
  column: string
  label: Label
  refersTo: readonly Referent['kind'][]
  /** Finds the rows of the project that refer to the object, oldest first. */
  find(queries: Queries, query: ReferenceQuery): Promise<Reference[]>
}

/** The kinds of users. `workflowSteps` are the steps of the workflows. */
type Label = (typeof LABELS)[number]
export const LABELS = ['segments', 'templates', 'campaigns', 'workflows', 'workflowSteps'] as const
