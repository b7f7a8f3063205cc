/**
 * Which modules share a file. The bundler makes one file of the modules that the same parts load: dozens of small
 * files, each of which is a request. Here files are joined until no screen loads more than it may. Of all pairs that a
 * screen with too many files loads, the one is joined that makes all screens load the fewest bytes. What is joined
 * with the frame becomes a piece of the first page.
 */

/** By name. */
export type Modules = ReadonlyMap<string, Module>

type Module = {
  /** In the bundle. */
  bytes: number
  /** What it imports before it runs. */
  imports: readonly string[]
  /** Of a package: only what uses it can load it. */
  isForeign: boolean
}

/** Parts that are loaded together, and the number of files that they may be besides the frame. */
export type Loading = { parts: readonly string[]; limit: number }

type Given = {
  modules: Modules
  /** The modules in which the frame begins. */
  frame: readonly string[]
  /** The modules in which lazy parts begin. */
  parts: readonly string[]
  loadings: readonly Loading[]
}

/** Sets of parts are bits. */
type Parts = bigint
type Sized = Loading & { bits: Parts }

/** Modules that stay together, and the numbers of the groups that they import, their own among them. */
type Group = { modules: string[]; bytes: number; needs: ReadonlySet<number>; isForeign: boolean }

/** The parts that load each group. Groups that the same parts load are one file. */
type Users = readonly Parts[]

/**
 * The own modules that the frame and each part must import, so that the bundler joins files.
 * @throws Error if a loading has more parts than files
 */
export function joinFiles(given: Given): { frame: string[]; parts: Map<string, string[]> } {
  const { parts, loadings } = given
  const first = findUsers(given)
  const groups = groupModules(first, given.modules)
  const all = bits(parts, parts)
  const sizes = loadings.map((one) => ({ ...one, bits: bits(one.parts, parts) }))
  let users: Users = groups.map(({ modules: [name = ''] }) => first.get(name) ?? 0n)
  const excessOf = (choice: Users) => sum(sizes.map((one) => countExcess(one, choice, all)))
  const bytesWith = (choice: Users) => sum(sizes.map((one) => bytesOf(one.bits, choice, groups)))
  while (excessOf(users) > 0) {
    const [excess, bytes] = [excessOf(users), bytesWith(users)]
    const crowded = sizes.filter((one) => countExcess(one, users, all) > 0)
    const choices = listPairs(crowded, users, all)
      .map((pair) => join(pair, users, groups))
      .map((choice) => ({
        choice,
        saved: excess - excessOf(choice),
        added: bytesWith(choice) - bytes,
      }))
      .filter(({ saved }) => saved > 0)
    const [best] = choices.sort((one, other) => one.added / one.saved - other.added / other.saved)
    if (best === undefined) throw new Error('a screen has more parts than files')
    users = best.choice
  }
  const modulesOf = (own: Parts) => {
    const loaded = groups.filter(({ isForeign }, at) => {
      return !isForeign && ((users[at] ?? 0n) & own) === own
    })
    return loaded.flatMap((group) => group.modules)
  }
  return {
    frame: modulesOf(all),
    parts: new Map(parts.map((part) => [part, modulesOf(bits([part], parts))])),
  }
}

function bits(some: readonly string[], parts: readonly string[]): Parts {
  return some.reduce((found, part) => found | (1n << BigInt(parts.indexOf(part))), 0n)
}

/** Every part loads the frame. */
function findUsers({ modules, frame, parts }: Given): Map<string, Parts> {
  const users = new Map<string, Parts>()
  for (const part of parts) {
    for (const name of closure([...frame, part], modules)) {
      users.set(name, (users.get(name) ?? 0n) | bits([part], parts))
    }
  }
  return users
}

function groupModules(users: ReadonlyMap<string, Parts>, modules: Modules): Group[] {
  const isForeign = (name: string) => modules.get(name)?.isForeign === true
  const grouped = [
    ...Map.groupBy(users.keys(), (name) => `${users.get(name)} ${isForeign(name)}`).values(),
  ]
  const places = new Map(grouped.flatMap((names, at) => names.map((name) => [name, at])))
  return grouped.map((names) => {
    return {
      modules: names,
      isForeign: names.some(isForeign),
      bytes: sum(names.map((name) => modules.get(name)?.bytes ?? 0)),
      needs: new Set([...closure(names, modules)].map((name) => places.get(name) ?? 0)),
    }
  })
}

/** The files that the parts load, and other parts too, but not all. A file is named by its users. */
function sharedBy(loading: Parts, users: Users, all: Parts): Parts[] {
  return [...new Set(users)].filter((file) => {
    return file !== all && (file & loading) !== 0n && (file & (file - 1n)) !== 0n
  })
}

function countExcess({ parts, bits: loading, limit }: Sized, users: Users, all: Parts): number {
  return Math.max(0, parts.length + sharedBy(loading, users, all).length - limit)
}

/** The files that may be joined: each two that one of the screens loads, and each with the frame. */
function listPairs(crowded: readonly Sized[], users: Users, all: Parts): [Parts, Parts][] {
  const pairs = crowded.flatMap(({ bits: loading }) => {
    const shared = sharedBy(loading, users, all)
    return [all, ...shared].flatMap((one, at) => shared.slice(at).map((other) => [one, other]))
  })
  return [...new Map(pairs.map((pair) => [pair.join(), pair as [Parts, Parts]])).values()]
}

/** Both files as one. What they import is loaded with them. */
function join(
  [one, other]: readonly [Parts, Parts],
  users: Users,
  groups: readonly Group[],
): Users {
  const joined = groups.filter(({ isForeign }, at) => {
    return !isForeign && (users[at] === one || users[at] === other)
  })
  const needed = new Set(joined.flatMap(({ needs }) => [...needs]))
  return users.map((file, at) => (needed.has(at) ? file | one | other : file))
}

function bytesOf(loading: Parts, users: Users, groups: readonly Group[]): number {
  return sum(groups.map(({ bytes }, at) => (((users[at] ?? 0n) & loading) === 0n ? 0 : bytes)))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** The modules and all that they load. */
function closure(names: readonly string[], modules: Modules, found = new Set<string>()) {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    closure(modules.get(name)?.imports ?? [], modules, found)
  }
  return found
}
