/**
 * Parts that are loaded on demand. A file that cannot be loaded means that a newer version runs, if the server
 * answers at all: the page says so, and what was typed stays.
 */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import lazyLoad from 'preact-iso/lazy'
import { call } from '../api/client.ts'
import { isOutdated } from '../api/session.ts'
import { fileOfFailure } from '../logic/import-failure.ts'
import { Failed } from './state.tsx'

type Loaded<Props> = { default: ComponentType<Props> }

export type LazyPart<Props = object> = ComponentType<Props> & {
  /** Loads the part ahead. A failure says nothing: the part is loaded again when it is shown. */
  preload(): Promise<void>
}

/** As `lazy` of preact-iso. A part that could not be loaded says so in its place, and can be loaded again. */
export function lazy<Props extends object>(load: () => Promise<Loaded<Props>>): LazyPart<Props> {
  let found: ComponentType<Props> | undefined
  let failure: unknown

  const loadAgain = async () => {
    try {
      found = (await load()).default
    } catch (error) {
      failure = error
      await tell()
    }
  }

  function Missing(props: Props) {
    const [shown, setShown] = useState<{ failure: unknown }>({ failure })
    const again = async () => {
      await loadAgain()
      setShown({ failure })
    }
    const retry = async () => {
      await again()
      // Some browsers keep the failure of an import as long as the page is open.
      if (found === undefined && (await canBeLoaded(failure))) location.reload()
    }
    useEffect(() => {
      // Whoever comes back to the part wants it.
      if (found === undefined) void again()
    }, [])
    const Found = found
    if (Found !== undefined) return <Found {...props} />
    return (
      <div class="body">
        <Failed error={shown.failure} onRetry={() => void retry()} />
      </div>
    )
  }

  const loadOrTell = (): Promise<Loaded<Props>> =>
    load().catch(async (error: unknown) => {
      failure = error
      await tell()
      return { default: Missing }
    })
  const part = lazyLoad(loadOrTell) as unknown as LazyPart<Props>
  const prepare = part.preload
  part.preload = () => load().then(prepare, () => undefined)
  return part
}

/** Whether the server has the file of an import that failed. */
async function canBeLoaded(failure: unknown): Promise<boolean> {
  const file = fileOfFailure(failure, location.origin)
  if (file === undefined) return false
  return fetch(file, { cache: 'reload' }).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** A newer version runs if the server answers. Without a connection this call fails too, and that has its banner. */
async function tell(): Promise<void> {
  await call('GET /config').then(
    () => {
      isOutdated.value = true
    },
    () => undefined,
  )
}
