/** A place for parts that are loaded on demand. A part that fails to draw shows that in its place. */
import { Component, type ComponentChildren } from 'preact'
import { ErrorBoundary } from 'preact-iso/lazy'
import { path } from '../api/session.ts'
import { Failed } from './state.tsx'

type Props = { children: ComponentChildren }
/** `at`: the path of the screen that failed. */
type State = { failure?: { error: unknown; at: string } | undefined }

/** A class, because Preact takes an error as handled only by the component whose own state changes. */
export class Suspense extends Component<Props, State> {
  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ failure: { error, at: path.peek() } })
  }

  override render({ children }: Props, { failure }: State) {
    // Another screen may be well.
    if (failure === undefined || failure.at !== path.value) {
      return <ErrorBoundary>{children}</ErrorBoundary>
    }
    return (
      <div class="body">
        <Failed error={failure.error} onRetry={() => this.setState({ failure: undefined })} />
      </div>
    )
  }
}
