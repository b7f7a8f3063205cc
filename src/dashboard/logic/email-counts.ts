/** How many emails of a filter have each state, as links of the list show them. */
import { ALL_WAITING, type FilterState, type ListFilter, STATUSES } from './email-filter.ts'

export type StateCount = {
  state: FilterState
  count: number
  /** The filter of these emails, beside the rest of it. */
  part: Pick<ListFilter, 'status' | 'state'>
}

/** The states that emails of the filter have, in the order of an email's life. Those that wait count together. */
export function statusCounts(
  counts: Readonly<Record<string, number>>,
  filter: ListFilter,
): StateCount[] {
  const waiting = (counts.PENDING ?? 0) + (counts.SENDING ?? 0)
  const state = filter.state.length > 0 ? filter.state : [ALL_WAITING]
  const all: StateCount[] = [
    { state: 'waiting', count: waiting, part: { state, status: [] } },
    ...Object.entries(STATUSES).map(([name, status]) => ({
      state: name as FilterState,
      count: counts[status] ?? 0,
      part: { state: [], status: [status] },
    })),
  ]
  return all.filter(({ count }) => count > 0)
}
