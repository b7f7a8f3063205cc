/** A part of a screen that loads and fails alone. What it showed stays while newer data comes, or cannot come. */
import type { QueryObserverResult } from '@tanstack/query-core'
import type { ComponentChildren } from 'preact'
import { failureOf } from '../api/queries.ts'
import { Failed, Loading } from './state.tsx'

type PanelProps<Data> = {
  query: QueryObserverResult<Data, Error>
  /** The height of the part while it loads, in rows. */
  rows: number
  children(data: Data): ComponentChildren
}

export function Panel<Data>({ query, rows, children }: PanelProps<Data>) {
  const { data, isPlaceholderData, dataUpdatedAt, refetch } = query
  const failure = failureOf(query)
  return (
    <>
      {failure !== null && (
        <Failed error={failure} asOf={dataUpdatedAt} onRetry={() => void refetch()} />
      )}
      {data !== undefined ? (
        <div class={isPlaceholderData ? 'old' : ''} aria-busy={isPlaceholderData}>
          {children(data)}
        </div>
      ) : (
        failure === null && <Loading rows={rows} />
      )}
    </>
  )
}
