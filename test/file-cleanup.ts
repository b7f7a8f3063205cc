/** What all tests of a file share. */
import { after, type TestContext } from 'node:test'

/** Takes functions that end what a `before` started; after the last test they run, the last one first. */
export function cleanUpAfterFile(): Pick<TestContext, 'after'> {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return { after: (end) => void ends.push(end as () => unknown) }
}
