/**
 * The thread of `built-regexes.ts`: replaces the constructor, loads the modules, and calls those functions
 * that build a regular expression in each call.
 */
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { FoundRegex } from './source-regexes.ts'

type Exports = Record<string, (...args: unknown[]) => unknown>

const MESSAGE = Buffer.from('Content-Type: multipart/mixed; boundary=a\n\n--a\n\ntext\n--a--\n')

/** Calls that reach each line which no module runs when it is loaded. */
const CALLS: Record<string, (exports: Exports) => unknown> = {
  'src/formats/reading/part-fields.ts': ({ readPartParameter }) =>
    readPartParameter?.('', 'charset'),
  'src/formats/parse/entity.ts': ({ readEntities }) => readEntities?.(MESSAGE),
  'src/formats/parse/find-address.ts': ({ listAddresses }) => listAddresses?.('a@example.com', 1),
  'src/formats/html/tag.ts': ({ eachTag }) => eachTag?.('<style>', () => undefined),
  'src/formats/compose/parameters.ts': ({ parseContentType }) => parseContentType?.('text/plain'),
  'src/features/tenancy/accounts/second-factor/codes.ts': ({ makeRecoveryCodes }) =>
    makeRecoveryCodes?.(),
}

const found: FoundRegex[] = []
const NativeRegExp = globalThis.RegExp

globalThis.RegExp = new Proxy(NativeRegExp, {
  construct: (target, args) => record(Reflect.construct(target, args)),
  apply: (target, self, args) => record(Reflect.apply(target, self, args)),
})

for (const file of workerData as string[]) {
  const exports = await import(pathToFileURL(path.resolve(file)).href)
  await CALLS[file]?.(exports)
}
parentPort?.postMessage(found)

/** The line of the first caller in `src`. */
function record(regex: RegExp): RegExp {
  const stack = new Error('here').stack ?? ''
  for (const line of stack.split('\n')) {
    const [, file, number] = line.match(/\/(src\/[^:]+):(\d+):\d+\)?$/) ?? []
    if (file === undefined) continue
    found.push({ file, line: Number(number), regex })
    break
  }
  return regex
}
