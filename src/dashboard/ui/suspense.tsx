/** A place for parts that are loaded on demand. A part that fails to draw shows that in its place. */
import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { path } from '../api/session.ts'
import { Failed } from './state.tsx'

export function Suspense({ children }: { children: ComponentChildren }) {
  const [failure, setFailure] = useState<unknown>()
  // Another screen may be well.
  useEffect(() => setFailure(undefined), [path.value])
  if (failure !== undefined) {
    return (
      <div class="body">
        <Failed error={failure} onRetry={() => setFailure(undefined)} />
      </div>
    )
  }
  return (
    <ErrorBoundary
      onError={(error) => {
        console.error(error)
        setFailure(error)
      }}
    >
      <Fragment>{children}</Fragment>
    </ErrorBoundary>
  )
}
