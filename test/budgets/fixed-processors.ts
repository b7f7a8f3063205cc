/** The number of processors in place of that of the machine: so many threads deliver, each with its messages. */
import { createRequire, syncBuiltinESMExports } from 'node:module'

export function installProcessors(count: number): void {
  Object.assign(createRequire(import.meta.url)('node:os'), { availableParallelism: () => count })
  syncBuiltinESMExports()
}
