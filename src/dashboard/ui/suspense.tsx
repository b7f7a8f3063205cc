/**
 * A place for parts that are loaded on demand. A file that is gone means that a newer version runs: the page
 * says so and keeps what was typed.
 */
import type { ComponentChildren } from 'preact'
import { ErrorBoundary } from 'preact-iso/lazy'
import { isOutdated } from '../api/session.ts'

export function Suspense({ children }: { children: ComponentChildren }) {
  return (
    <ErrorBoundary
      onError={(error) => {
        if (isLoadFailure(error)) isOutdated.value = true
        else throw error
      }}
    >
      {children}
    </ErrorBoundary>
  )
}

/** Browsers have texts of their own for a module that cannot be loaded. */
function isLoadFailure(error: unknown): boolean {
  return error instanceof TypeError && /import|module|fetch/i.test(error.message)
}
