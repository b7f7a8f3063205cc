/**
 * Parts that are loaded on demand. A file that cannot be loaded means that a newer version runs, if the server
 * answers at all: the page says so, and what was typed stays.
 */
import type { ComponentType } from 'preact'
import lazyLoad from 'preact-iso/lazy'
import { call } from '../api/client.ts'
import { isOutdated } from '../api/session.ts'
import { Failed } from './state.tsx'

type Loaded<Props> = { default: ComponentType<Props> }

export type LazyPart<Props = unknown> = ComponentType<Props> & {
  /** Loads the part ahead. A failure says nothing: the part is loaded again when it is shown. */
  preload(): void
}

/** As `lazy` of preact-iso. A part that could not be loaded shows that, with a way to load the page again. */
export function lazy<Props>(load: () => Promise<Loaded<Props>>): LazyPart<Props> {
  const loadOrTell = (): Promise<Loaded<Props>> =>
    load().catch(async (error: unknown) => {
      // Without a connection this call fails too, and the banner for that shows.
      await call('GET /config').then(
        () => {
          isOutdated.value = true
        },
        () => undefined,
      )
      return { default: () => <Missing error={error} /> }
    })
  const part = lazyLoad(loadOrTell) as unknown as LazyPart<Props>
  const prepare = part.preload
  part.preload = () => {
    load().then(prepare, () => undefined)
  }
  return part
}

function Missing({ error }: { error: unknown }) {
  return (
    <div class="body">
      <Failed error={error} onRetry={() => location.reload()} />
    </div>
  )
}
