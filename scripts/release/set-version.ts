/** Versions (semver.org 2.0.0, without build metadata) in package.json and package-lock.json. */

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/

export function isVersion(text: string): boolean {
  return VERSION.test(text)
}

/** Returns both files, in npm's form, with the version; the same texts if they have it already. */
export function setVersion(
  files: { packageJson: string; lock: string },
  version: string,
): { packageJson: string; lock: string } {
  const packageJson = { ...JSON.parse(files.packageJson), version }
  const lock = JSON.parse(files.lock)
  lock.version = version
  lock.packages[''].version = version
  return { packageJson: format(packageJson), lock: format(lock) }
}

function format(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
