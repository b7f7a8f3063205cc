/** Texts of lists: the filters, the rows and what stands below them. */
export const list = {
  'filter.clear': 'Any',
  'filter.apply': 'Show',
  'filter.more': '{name} and {count} more',
  'table.next': 'Next row (Enter opens it)',
  'table.previous': 'Previous row',
  'table.first': 'First row',
  'table.last': 'Last row that is loaded',
  'table.search': 'Search',
  'table.more': 'Loading more',
  'list.new': { one: '{count} new', other: '{count} new' },
  'list.new.many': 'More than {count} new',
  'list.narrow': 'The first {count} are shown. Narrow the filter to see the others.',
  'list.count': { one: '{count} entry', other: '{count} entries' },
  'list.view': 'View',
} as const
