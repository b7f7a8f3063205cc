/** A part of a screen that loads and fails alone. What it showed stays while newer data comes, or cannot come. */
import type { QueryObserverResult } from '@tanstack/query-core'
import type { ComponentChildren } from 'preact'
import { Failed, Loading } from './state.tsx'

type PanelProps<Data> = {
  query: QueryObserverResult<Data, Error>
  /** The height of the part while it loads, in rows. */
  rows: number
  children(data: Data): ComponentChildren
}

export function Panel<Data>({ query, rows, children }: PanelProps<Data>) {
  const { data, error, isPlaceholderData, refetch } = query
  if (data !== undefined) {
    return (
      <div class={isPlaceholderData ? 'old' : ''} aria-busy={isPlaceholderData}>
        {children(data)}
      </div>
    )
  }
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />
  return <Loading rows={rows} />
}
