/** A place for parts that are loaded on demand. A part that fails to draw shows that in its place. */
import { type ComponentChildren, Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { ErrorBoundary } from 'preact-iso/lazy'
import { Failed } from './state.tsx'

export function Suspense({ children }: { children: ComponentChildren }) {
  const [failure, setFailure] = useState<unknown>()
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
