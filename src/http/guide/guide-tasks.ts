/** The pages of the guide by what people want to do. Names are those of the files in `src/docs`. */
export type GuideTask = { title: string; names: readonly string[] }

export const GUIDE_TASKS: readonly GuideTask[] = [
  { title: 'Send', names: ['templates', 'submission', 'feedback', 'requests', 'compatibility'] },
  { title: 'People', names: ['contacts', 'conditions', 'events-and-segments', 'privacy'] },
  {
    title: 'Campaigns and workflows',
    names: ['campaigns', 'workflows', 'sign-up', 'webhooks', 'analytics'],
  },
  {
    title: 'Set up a server',
    names: [
      'production',
      'dns',
      'certificates',
      'configuration',
      'security',
      'accounts',
      'billing',
    ],
  },
  {
    title: 'Run a server',
    names: ['operations', 'monitoring', 'doctor', 'troubleshooting', 'backup', 'upgrade'],
  },
  {
    title: 'Change the program',
    names: ['contributing', 'internals', 'decisions', 'performance', 'translating', 'changelog'],
  },
]

/** The tasks with those of the names that exist. Names of no task come last, so that no page is lost. */
export function tasksOf(names: readonly string[]): GuideTask[] {
  const placed = new Set(GUIDE_TASKS.flatMap((task) => task.names))
  const others = { title: 'More', names: names.filter((name) => !placed.has(name)) }
  return [...GUIDE_TASKS, others]
    .map((task) => ({ ...task, names: task.names.filter((name) => names.includes(name)) }))
    .filter((task) => task.names.length > 0)
}
