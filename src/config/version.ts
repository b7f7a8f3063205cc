import { readAsset } from './assets.ts'

/** Returns the version of this program, as in its package.json. */
export function productVersion(): string {
  const { version } = JSON.parse(readAsset('package.json').toString('utf8'))
  return version
}
