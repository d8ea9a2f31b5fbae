/** What comparing may cost: hostile files are read by whoever decides. */

/** Rules of one comparison, and characters of one pattern. */
export const FILE_RULES_MAX = 32
export const PATTERN_CHARS_MAX = 256
/** A longer word, field or string is compared in pieces, exactly; so memory does not grow with what a file calls one word. */
export const TOKEN_CHARS_MAX = 4096
/** Header of a .npy file: NumPy itself refuses to read a longer one from strangers (max_header_size is 10,000). */
export const NPY_HEADER_BYTES_MAX = 10_000
/** Directory of an .npz archive, and files in it. */
export const ZIP_DIRECTORY_BYTES_MAX = 4 * 1024 ** 2
export const ZIP_ENTRIES_MAX = 10_000
/** What the files of one archive may unfold to: deflate makes at most 1,032 of one byte, and a disk limit bounds only the packed ones. */
export const ZIP_UNFOLDED_BYTES_MAX = 16 * 1024 ** 3
/** Bytes of NumPy data that are compared in one go. */
export const BLOCK_BYTES = 64 * 1024
/** Of each of two files, for a guess why they differ. */
export const HINT_BYTES_MAX = 1024 * 1024

/** A comparator runs on the project's own machine, beside others: so much of it at most. */
export const COMPARATOR_CPU_MILLIS_MAX = 2_000
export const COMPARATOR_MEMORY_BYTES_MAX = 2 * 1024 ** 3
export const COMPARATOR_TIME_MS_MAX = 600_000
export const COMPARATOR_DISK_BYTES_MAX = 4 * 1024 ** 3
