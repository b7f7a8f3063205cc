/**
 * The software bill of materials of a release: CycloneDX 1.5 as JSON, from package-lock.json. It lists the packages
 * that the program needs, with the Node of each target. The time and the serial number come from the commit, so
 * that the same commit gives the same file.
 *
 * `npm sbom --omit dev` is not used: it leaves out what development dependencies need as well, such as `jose`.
 */
import { hash } from 'node:crypto'

/** An entry of `packages` in package-lock.json (lockfileVersion 3). */
type LockedPackage = {
  name?: string
  version?: string
  integrity?: string
  license?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

export type Lock = { packages: Record<string, LockedPackage> }

/** `hash`: 40 hexadecimal digits; `time`: ISO 8601. */
type Commit = { hash: string; time: string }

const FOLDER = 'node_modules/'

export function makeSbom({ packages }: Lock, commit: Commit) {
  const root = packages[''] ?? {}
  const places = findNeeded(packages)
  const components = places.map((place) => toComponent(nameOf(place), packages[place] ?? {}))
  const refs = ['', ...places].map((place) => ({
    ref: place === '' ? refOf(root.name ?? '', root) : refOf(nameOf(place), packages[place] ?? {}),
    dependsOn: listNeeds(packages, place).map((need) => refOf(nameOf(need), packages[need] ?? {})),
  }))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(commit.hash)}`,
    version: 1,
    metadata: {
      timestamp: commit.time,
      component: { ...toComponent(root.name ?? '', root), type: 'application' },
    },
    components: byRef(components, ({ 'bom-ref': ref }) => ref),
    dependencies: byRef(refs, ({ ref }) => ref).map(({ ref, dependsOn }) => ({
      ...{ ref, dependsOn: [...new Set(dependsOn)].sort() },
    })),
  }
}

/** The places of all packages that the root needs, directly or through others. */
function findNeeded(packages: Lock['packages']): string[] {
  const found = new Set<string>()
  const pending = ['']
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    for (const need of listNeeds(packages, place)) {
      if (found.has(need)) continue
      found.add(need)
      pending.push(need)
    }
  }
  return [...found]
}

/** @throws Error if a package that is not optional is not locked */
function listNeeds(packages: Lock['packages'], place: string): string[] {
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
    packages[place] ?? {}
  const isOptional = (name: string) =>
    optionalDependencies?.[name] !== undefined || peerDependenciesMeta?.[name]?.optional === true
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  return names.flatMap((name) => {
    const need = resolve(packages, place, name)
    if (need !== undefined) return need
    if (isOptional(name)) return []
    throw new Error(`package-lock.json has no ${name} for ${place}`)
  })
}

/** Looks in the folders that Node would look in. */
function resolve(packages: Lock['packages'], place: string, name: string): string | undefined {
  for (let folder = place; ; folder = parentOf(folder)) {
    const candidate = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`
    if (packages[candidate] !== undefined) return candidate
    if (folder === '') return undefined
  }
}

function parentOf(place: string): string {
  return place.slice(0, Math.max(0, place.lastIndexOf(FOLDER) - 1))
}

function nameOf(place: string): string {
  return place.slice(place.lastIndexOf(FOLDER) + FOLDER.length)
}

function refOf(name: string, { version }: LockedPackage): string {
  return `${name}@${version}`
}

function toComponent(name: string, locked: LockedPackage) {
  const { version = '', integrity, license } = locked
  const [algorithm = '', digest = ''] = integrity?.split('-') ?? []
  return {
    'bom-ref': refOf(name, locked),
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    ...(license !== undefined && { licenses: [toLicense(license)] }),
  }
}

/** Licences of the lock are SPDX identifiers or expressions. */
function toLicense(license: string) {
  return /^[\w.+-]+$/.test(license) ? { license: { id: license } } : { expression: license }
}

/** Sorts by code units, without repetitions: a package may stand in several places. */
function byRef<T>(list: readonly T[], refOf: (item: T) => string): T[] {
  const items = new Map(list.map((item) => [refOf(item), item]))
  return [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
}

/** A UUIDv8 (RFC 9562, section 5.8) of the digits. */
function uuidOf(digits: string): string {
  const made = hash('sha256', `pillarbox sbom ${digits}`, 'hex')
  const parts = [made.slice(0, 8), made.slice(8, 12), `8${made.slice(13, 16)}`]
  return [...parts, `8${made.slice(17, 20)}`, made.slice(20, 32)].join('-')
}
