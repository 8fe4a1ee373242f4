//! Which rank of how many a process is, as its launcher says.

use crate::TrainError;

/// Where ranks meet when their launcher names no port.
const USUAL_PORT: u16 = 29_611;

/// One process among several.
///
/// ```
/// use locdiff_train::World;
/// let variables = [("RANK", "1"), ("WORLD_SIZE", "4"), ("MASTER_ADDR", "node0"), ("MASTER_PORT", "29500")];
/// let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
/// let world = World::from_variables(find)?.unwrap();
/// assert_eq!((world.rank, world.size, world.port), (1, 4, 29501)); // torchrun itself listens on MASTER_PORT
/// # Ok::<(), locdiff_train::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// This process, from 0.
    pub rank: usize,
    /// Processes in all.
    pub size: usize,
    /// This process among those on its machine: the number of its GPU.
    pub local_rank: usize,
    /// Rank 0's machine.
    pub address: String,
    /// The port on which rank 0 waits for the others.
    pub port: u16,
}

/// How a launcher tells a process its rank.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    size: &'static str,
    local_rank: &'static str,
}

/// In this order: what a user sets by hand in the way of torchrun goes before what a cluster sets around it. `srun` is known by
/// its step's variables: those of the job are there in a batch script's shell too, where one process is meant.
const LAUNCHERS: [Launcher; 3] = [
    Launcher { name: "torchrun", rank: "RANK", size: "WORLD_SIZE", local_rank: "LOCAL_RANK" },
    Launcher {
        name: "mpirun",
        rank: "OMPI_COMM_WORLD_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
    },
    Launcher {
        name: "srun",
        rank: "SLURM_PROCID",
        size: "SLURM_STEP_NUM_TASKS",
        local_rank: "SLURM_LOCALID",
    },
];

impl World {
    /// From the environment of torchrun (Ray Train sets the same), mpirun or srun; `None` where there is one process only.
    ///
    /// # Errors
    /// Variables that contradict each other, or an address that is missing.
    pub fn from_environment() -> Result<Option<Self>, TrainError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// The same with variables from elsewhere.
    ///
    /// # Errors
    /// As [`World::from_environment`].
    pub fn from_variables(find: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, TrainError> {
        let find = |name: &str| find(name).filter(|value| !value.trim().is_empty());
        let is_complete = |l: &&Launcher| find(l.rank).is_some() && find(l.size).is_some();
        let Some(launcher) = LAUNCHERS.iter().find(is_complete) else { return Ok(None) };
        let number = |name: &str| -> Result<Option<usize>, TrainError> {
            let Some(text) = find(name) else { return Ok(None) };
            let value = text.trim().parse().map_err(|_| bad(format!("{name} = '{text}' is not a number")))?;
            Ok(Some(value))
        };
        let (rank, size) = (number(launcher.rank)?.unwrap_or(0), number(launcher.size)?.unwrap_or(1));
        if rank >= size {
            let (a, b) = (launcher.rank, launcher.size);
            return Err(bad(format!("{a} = {rank}, but {b} = {size}: ranks go from 0 to {b} − 1")));
        }
        if size == 1 {
            return Ok(None);
        }
        let local_rank = number(launcher.local_rank)?.unwrap_or(0);
        let all_here = number("OMPI_COMM_WORLD_LOCAL_SIZE")? == Some(size);
        let node_list = find("SLURM_STEP_NODELIST").or_else(|| find("SLURM_JOB_NODELIST"));
        let address = match (find("MASTER_ADDR"), launcher.name) {
            (Some(address), _) => address,
            (None, "mpirun") if all_here => "127.0.0.1".to_owned(),
            (None, "srun") => node_list.as_deref().and_then(first_host).ok_or_else(|| {
                bad("SLURM_STEP_NODELIST names no machine: set MASTER_ADDR to that of rank 0".to_owned())
            })?,
            (None, name) => {
                return Err(bad(format!(
                    "{name} names no address: set MASTER_ADDR to the machine of rank 0"
                )));
            }
        };
        let port = match (number("LOCDIFF_PORT")?, number("MASTER_PORT")?, number("SLURM_JOB_ID")?) {
            (Some(port), _, _) => port,
            (None, Some(port), _) => port + 1, // torchrun's agent holds the port itself
            (None, None, Some(job)) if launcher.name == "srun" => 20_000 + job % 20_000,
            _ => usize::from(USUAL_PORT),
        };
        let port = u16::try_from(port).map_err(|_| bad(format!("port {port}: at most 65535")))?;
        Ok(Some(Self { rank, size, local_rank, address, port }))
    }
}

fn bad(reason: String) -> TrainError {
    TrainError::World { reason }
}

/// The first machine of SLURM's shorthand: `node[003-010,12],other` is node003.
fn first_host(list: &str) -> Option<String> {
    let list = list.trim();
    let end = list.find([',', '[']).unwrap_or(list.len());
    let (name, rest) = list.split_at(end);
    let host = match rest.strip_prefix('[') {
        Some(numbers) => {
            let first: String = numbers.chars().take_while(char::is_ascii_digit).collect();
            let after = numbers.find(']').map_or("", |k| &numbers[k + 1..]);
            let suffix = &after[..after.find([',', '[']).unwrap_or(after.len())];
            format!("{name}{first}{suffix}")
        }
        None => name.to_owned(),
    };
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(variables: &[(&str, &str)]) -> Result<Option<World>, TrainError> {
        World::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_launcher_is_understood() {
        assert_eq!(world(&[]).unwrap(), None);
        assert_eq!(world(&[("RANK", "0"), ("WORLD_SIZE", "1")]).unwrap(), None);
        let found = world(&[
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "2"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
        ]);
        let expected = World { rank: 2, size: 4, local_rank: 2, address: "127.0.0.1".into(), port: 29_611 };
        assert_eq!(found.unwrap(), Some(expected));
        let slurm = [
            ("SLURM_PROCID", "9"),
            ("SLURM_STEP_NUM_TASKS", "16"),
            ("SLURM_LOCALID", "1"),
            ("SLURM_STEP_NODELIST", "gpu[003-010,12]"),
            ("SLURM_JOB_ID", "1234567"),
        ];
        let expected = World { rank: 9, size: 16, local_rank: 1, address: "gpu003".into(), port: 34_567 };
        assert_eq!(world(&slurm).unwrap(), Some(expected));
        // A batch script's own shell has a rank, but is no step: one process.
        assert_eq!(world(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "16")]).unwrap(), None);
    }

    #[test]
    fn what_contradicts_itself_is_named() {
        let said = |variables: &[(&str, &str)]| world(variables).unwrap_err().to_string();
        assert!(said(&[("RANK", "4"), ("WORLD_SIZE", "4")]).contains("RANK = 4"));
        assert!(said(&[("RANK", "x"), ("WORLD_SIZE", "4")]).contains("'x' is not a number"));
        assert!(said(&[("RANK", "0"), ("WORLD_SIZE", "2")]).contains("set MASTER_ADDR"));
        let port = [("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "a"), ("MASTER_PORT", "65535")];
        assert!(said(&port).contains("port 65536"));
    }

    #[test]
    fn first_hosts() {
        for (list, host) in [
            ("a", "a"),
            ("a,b", "a"),
            ("node[7]", "node7"),
            ("r1n[01-04]-ib,r2n5", "r1n01-ib"),
            ("x[5,7-9],y", "x5"),
        ] {
            assert_eq!(first_host(list).as_deref(), Some(host), "{list}");
        }
        assert_eq!(first_host(" "), None);
    }
}
