/** A part of a screen that loads and fails alone. What it showed stays while newer data comes, or cannot come. */
import type { QueryObserverResult } from '@tanstack/query-core'
import type { ComponentChildren } from 'preact'
import { failureOf } from '../api/queries.ts'
import { Failed, Loading } from './state.tsx'
import { Suspense } from './suspense.tsx'

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
          <Suspense>
            <Drawn data={data} draw={children} />
          </Suspense>
        </div>
      ) : (
        failure === null && <Loading rows={rows} />
      )}
    </>
  )
}

type DrawnProps<Data> = { data: Data; draw(data: Data): ComponentChildren }

/** A component of its own, so that a fault of drawing stays in the panel. */
function Drawn<Data>({ data, draw }: DrawnProps<Data>) {
  return <>{draw(data)}</>
}
