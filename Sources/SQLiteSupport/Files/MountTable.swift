internal import SystemSupport

/// The mounts that a process sees on Linux, as `/proc/self/mountinfo` lists them.
///
/// `statvfs` only reports that a path is mounted read-only. The same disk can be mounted for
/// writing elsewhere, as containers do with folders of their host. Only this table shows whether
/// the disk itself is read-only.
package struct MountTable {
  /// Local file systems. The disk of any other one, such as NFS or overlay, can be written by other
  /// machines or through another mount, even if this mount is read-only.
  private static let localTypes: Set<Substring> = [
    "btrfs", "cramfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hfs", "hfsplus",
    "iso9660", "jfs", "msdos", "ntfs3", "reiserfs", "romfs", "squashfs", "tmpfs", "udf", "vfat",
    "xfs", "zfs",
  ]

  private let lines: [Substring]

  package init(_ text: String) { lines = text.split(separator: "\n") }

  /// Returns whether a disk is read-only for every process of this machine, however it is mounted.
  ///
  /// - Parameter device: The device numbers in the format of the table, such as `8:1`.
  /// - Returns: False also if the table does not list the device.
  package func isReadOnly(device: String) -> Bool {
    lines.contains { line in
      // 36 35 98:0 /root /mount ro,noatime master:1 - ext4 /dev/sda ro,errors=continue
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == device, let separator = fields.firstIndex(of: "-"),
        fields.count > separator + 3
      else { return false }
      let options = fields[separator + 3].split(separator: ",")
      return Self.localTypes.contains(fields[separator + 1]) && options.contains("ro")
    }
  }
}

extension MountTable {
  /// The file systems of other machines, whose locks other machines may not see.
  private static let networkTypes: Set<Substring> = [
    "9p", "afs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs",
    "fuse.rclone", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs", "virtiofs",
  ]

  /// Returns the type of the file system if a device belongs to another machine; nil otherwise.
  ///
  /// - Parameter device: The device numbers in the format of the table, such as `0:52`.
  package func networkType(ofDevice device: String) -> String? {
    for line in lines {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == device, let separator = fields.firstIndex(of: "-"),
        fields.count > separator + 1, Self.networkTypes.contains(fields[separator + 1])
      else { continue }
      return String(fields[separator + 1])
    }
    return nil
  }
}

#if os(Linux) || os(Android)
  extension MountTable {
    /// The mounts that this thread sees, which other threads may not; nil if the system does not
    /// list them.
    static var current: MountTable? {
      (try? FileDescriptor.contents(ofFile: "/proc/thread-self/mountinfo"))
        .map { MountTable(String(decoding: $0, as: UTF8.self)) }
    }
  }
#endif
