/**
 * `npm run dashboard`: bundles `src/dashboard` into a folder of hashed files, from which the server and the
 * executable serve `/app`. A build whose inputs have not changed is kept.
 * `npm run dashboard -- --watch`: builds again after each change.
 * `npm run dashboard -- --open`: then starts a server to look at, as two accounts (`dashboard/open.ts`).
 */
import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { buildDashboard } from './dashboard/build.ts'

process.chdir(path.join(import.meta.dirname, '..'))
const { values } = parseArgs({ options: { watch: { type: 'boolean' }, open: { type: 'boolean' } } })
await buildAndTell()
const watcher = values.watch ? watchSources() : undefined
if (values.open) {
  // Only then: a start of the server builds too, and needs none of this.
  const { openDashboard } = await import('./dashboard/open.ts')
  await openDashboard()
  watcher?.close()
}

async function buildAndTell(): Promise<void> {
  const { isNew, sizes } = await buildDashboard()
  if (!isNew) return
  for (const { name, bytes, limit, files } of sizes) {
    const kilobytes = (bytes / 1024).toFixed(1).padStart(6)
    const counted = files === undefined ? '' : `${files.count} of ${files.limit} files`
    console.log(
      `${kilobytes} of ${String(limit / 1024).padStart(3)} KB ${counted.padStart(13)}  ${name}`,
    )
  }
}

/** Saving a file often makes several events, so a build waits until they have ended. */
function watchSources(): FSWatcher {
  let timer: NodeJS.Timeout | undefined
  let building = Promise.resolve()
  return watch(path.join('src', 'dashboard'), { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      building = building.then(buildAndTell).catch((error: unknown) => console.error(error))
    }, 50)
  })
}
