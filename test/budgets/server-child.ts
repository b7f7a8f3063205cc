/**
 * The measured process: the whole program with a clock that only moves when it is told to, seeded random
 * numbers, two processors, and counts. `server.ts` starts it and plays the world around it. What uses the clock is loaded
 * after the clock is there.
 */
import { installProcessors } from './fixed-processors.ts'
import { installSeededRandom } from './seeded-random.ts'
import { installVirtualTime } from './virtual-time.ts'

const START = Date.UTC(2026, 10, 21, 12)

installSeededRandom(36)
installProcessors(2)
const time = installVirtualTime(START)
const { serveMeasured } = await import('./measured-app.ts')
await serveMeasured(time)
